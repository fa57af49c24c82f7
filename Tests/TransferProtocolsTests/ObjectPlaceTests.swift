import Testing
import TransferModel

@testable import TransferProtocols

/// The same key in the same place counts as the same object: what one protocol stored there, another does not send.
@Suite struct ObjectPlaceTests {
  private func place(_ scheme: String, _ target: String = "", method: String? = nil) throws -> String {
    var settings = BatchSettings(destination: "\(scheme)http://h/\(target)")
    settings.method = method
    return try AllProtocols.make(settings, credentialsRegion: nil).keyPlace
  }

  /// A PUT, whatever protocol it belongs to, stores the object that its URL names.
  @Test(arguments: ["dav+", "davpatch+", "resumable+"]) func aPutStoresTheObjectOfItsURL(_ scheme: String) throws {
    #expect(try place(scheme) == place(""))
  }

  /// What becomes of a POST is up to the server. The URL of an endpoint may be that of a folder.
  @Test func protocolsWhoseObjectsTheServerNamesHaveTheirOwnPlaces() throws {
    for target in ["", "?to={path}"] {
      let own = try ["", "post+", "form+"].map { try place($0, target) }
      #expect(Set(own).count == own.count, "\(own)")
    }
    let own = try ["", "post+", "form+", "tus+"].map { try place($0) } + [place("resumable+", method: "POST")]
    #expect(Set(own).count == own.count, "\(own)")
  }
}
