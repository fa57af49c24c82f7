import Receiver
import Testing
import TransferModel

/// A server that takes next to nothing of each body: the upload comes to an end, with a reason.
@Suite struct TinyProgressTests {
  @Test(arguments: ["tus", "resumable"])
  func aByteOfEachBodyIsNoProgress(_ name: String) throws {
    let subject = try ConformanceSubject.named(name)
    // Forty bytes in all: without an end, the upload would go on and be done.
    let scene = try ConformanceScene(
      subject, size: 2 * subject.chunkSize, script: "match PATCH * times=40 : cut-after=1\n")
    try scene.add()
    try scene.run()
    #expect(try scene.states().first?.hasPrefix("failed") == true)
    let patches = try scene.record().filter { if case .start("PATCH", _) = $0.kind { true } else { false } }
    // Eight failures; a connection that was cut may have brought a request twice.
    #expect(patches.count <= 18)
  }

  /// The same with a server that is better after a while. An upload of which it says that it holds nothing is left for
  /// another, which does not count as a failure beside the one of the body: five cuts are five of eight.
  @Test(arguments: ["tus", "resumable"])
  func aServerThatRecoversGetsTheRest(_ name: String) throws {
    let subject = try ConformanceSubject.named(name)
    let scene = try ConformanceScene(
      subject, size: 4 * subject.chunkSize, script: "match PATCH * times=5 : cut-after=1\n")
    try scene.add()
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
  }
}
