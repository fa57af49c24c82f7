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

  /// Case, default port and the dot of a complete name make no difference. URLs are requested as they were typed.
  @Test(arguments: ["", "post+", "form+", "dav+", "tus+", "resumable+"])
  func aServerIsOnePlaceHoweverItIsWritten(_ scheme: String) throws {
    func place(_ server: String) throws -> String {
      try AllProtocols.make(BatchSettings(destination: scheme + server + "/in/"), credentialsRegion: nil).keyPlace
    }
    for other in ["http://H.Example", "http://h.example:80", "http://h.example.", "HTTP://h.example.:080"] {
      #expect(try place(other) == place("http://h.example"), "\(other)")
    }
    #expect(try place("https://h.example.:443") == place("https://h.example"))
    #expect(try place("http://LocalHost.") == place("http://localhost"))
    #expect(try place("http://127.0.0.1.") == place("http://127.0.0.1"))
    let apart = [
      "http://localhost", "http://127.0.0.1", "http://[::1]", "http://h", "http://h.", "https://h", "http://h:81",
    ]
    #expect(Set(try apart.map(place)).count == apart.count)
    let typed = try AllProtocols.make(
      BatchSettings(destination: "\(scheme)http://h.example./in/"), credentialsRegion: nil)
    #expect(typed.location(ofKey: NameBytes("x")).hasPrefix("http://h.example./"))
  }

  @Test func soIsOneOfAnEndpointAndOfAProfile() throws {
    func bucket(_ endpoint: String) throws -> String {
      var settings = BatchSettings(destination: "s3://bucket/in/")
      settings.endpointURL = endpoint
      return try AllProtocols.make(settings, credentialsRegion: nil).keyPlace
    }
    #expect(try bucket("http://H.Example.:80/") == bucket("http://h.example"))
    func profile(_ url: String) throws -> String { try builtin("dropbox", url, [:]).keyPlace }
    #expect(try profile("https://H.Example.:443/2/files") == profile("https://h.example/2/files"))
  }

  /// What a PUT replaces does not depend on how its URL is written. The names of an object are compared as bytes.
  @Test(arguments: [
    ("in/{path}.bin", "a", "in/", "in/a.bin"), ("in/{path}/data", "a", "", "in/a/data"),
    ("in/%7B{name}.bin?v=1", "a", "in/?v=1", "in/{a.bin"), ("in/{path}", "in/a", "in/", "in/a"),
  ])
  func aTemplateNamesTheObjectsOfAFolder(_ template: String, _ key: String, _ plain: String, _ name: String) throws {
    func objects(_ scheme: String, _ target: String) throws -> ObjectPlace? {
      let settings = BatchSettings(destination: "\(scheme)http://h/\(target)")
      return try AllProtocols.make(settings, credentialsRegion: nil).objectPlace
    }
    let (own, others) = (try #require(try objects("", template)), try #require(try objects("", plain)))
    #expect(own.site == others.site && own.name(of: NameBytes(key)) == NameBytes(name), "\(own)")
    #expect(others.key(of: NameBytes(name)) == NameBytes(name) && own.key(of: NameBytes(name)) == NameBytes(key))
    #expect(try objects("resumable+", template) == own)
    for scheme in ["post+", "form+"] { #expect(try objects(scheme, template) == nil) }
    #expect(try objects("tus+", "") == nil)
    #expect(try objects("", "in/{path}?n={name}")?.site == "http://h/in/{path}?n={name}")
  }

  /// A bucket of AWS is one place, whichever of its endpoints is named.
  @Test func aBucketIsOnePlaceAtAllEndpointsOfAWS() throws {
    func site(_ endpoint: String?) throws -> String? {
      var settings = BatchSettings(destination: "s3://bucket/in/")
      settings.endpointURL = endpoint
      return try AllProtocols.make(settings, credentialsRegion: nil).objectPlace?.site
    }
    #expect(try site(nil) == site("https://s3.eu-west-1.amazonaws.com"))
    // Other partitions have buckets of the same names.
    let apart = ["cn-north-1.amazonaws.com.cn", "us-gov-west-1.amazonaws.com", "us-gov-east-1.amazonaws.com"]
    for region in apart.map({ "s3.\($0)" }) {
      #expect(try site("https://\(region)") != site(nil), "\(region)")
    }
    #expect(try site("http://127.0.0.1:9000") == "s3+http://127.0.0.1:9000/bucket/")
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
