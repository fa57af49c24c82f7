import Receiver
import Testing
import TransferModel
import Transfers

/// Trees pushed to the session protocols of the receiver, by the shipped engine.
@Suite struct UploadSessionTests {
  private func methods(_ scene: Scene) throws -> [String: Int] {
    let events = try ReceiverRecord.read(path: "\(scene.root)/record.ndjson")
    var counts: [String: Int] = [:]
    for event in events {
      if case .start(let method, _) = event.kind { counts[method, default: 0] += 1 }
    }
    return counts
  }

  /// Many files begin at the same time; one of them asks what the server can.
  @Test(arguments: [("tus+", "/-/tus/"), ("resumable+", "/-/resumable/")])
  func theServerIsAskedOnceForATree(_ scheme: String, _ place: String) throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 3, count: 40)
    _ = try scene.add(to: place, scheme: scheme)
    let result = try scene.run()
    #expect(result.done == files.count)
    let methods = try methods(scene)
    #expect(methods["OPTIONS"] == 1)
    // tus: creation and body, but for the empty one; resumable: one request a file.
    #expect(methods["PATCH"] == (scheme == "tus+" ? files.count - 1 : nil))
    #expect(methods[scheme == "tus+" ? "POST" : "PUT"] == files.count)
  }
}
