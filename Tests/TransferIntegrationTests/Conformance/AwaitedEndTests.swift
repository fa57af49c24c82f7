import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel

/// If the answer to a last request does not come, the server is queried meanwhile; the request is neither repeated nor
/// ended.
@Suite struct AwaitedEndTests {
  private func scene(_ script: String) throws -> ConformanceScene {
    let subject = try ConformanceSubject.named("profile numbered-chunks")
    let scene = try ConformanceScene(subject, size: 2 * subject.chunkSize, script: script)
    scene.askAfterMs = 50
    try scene.add()
    return scene
  }

  private func merges(_ scene: ConformanceScene) throws -> Int {
    try scene.record().filter { event in
      if case .start("POST", _) = event.kind { event.path.description.contains("merge") } else { false }
    }.count
  }

  private func attempts(_ scene: ConformanceScene, _ operation: String) throws -> [String] {
    try scene.look { try $0.attempts(RowFilter(), after: 0, limit: 1_000) }.filter { $0.operation == operation }.map(
      \.outcome)
  }

  /// The work is done, and the answer never comes.
  @Test func aFileThatIsThereIsNotWaitedFor() throws {
    let scene = try scene("match POST /-/chunks/merge* : late-hold=answer\n")
    scene.maxAttempts = 1
    try scene.run()
    #expect(try scene.complaint() == nil)
    #expect(try scene.states() == ["done"])
    #expect(try merges(scene) == 1)
    #expect(try attempts(scene, "finish") == ["retry"], "its answer never arrived")
    #expect(try attempts(scene, "verify").suffix(2) == ["ok", "ok"])
  }

  /// The last missing one of several parallel chunks may have completed the file: the server is queried before it is
  /// sent again.
  @Test func aLostChunkOfSeveralIsAskedAbout() throws {
    let scene = try scene("match POST /-/chunks/upload* nth=2 : lose-answer\n")
    scene.workers = 1
    try scene.run()
    #expect(try scene.complaint() == nil)
    #expect(try scene.states() == ["done"])
    #expect(try attempts(scene, "part") == ["ok", "retry", "ok"])
    #expect(try attempts(scene, "verify") == ["ok"], "after the lost answer; the end proved itself")
  }

  /// The server does not finish until it was queried a second time, without result: its answer is awaited.
  @Test func aServerThatIsAtWorkIsLeftInPeace() throws {
    let scene = try scene("match POST /-/chunks/merge* : hold=merge\nmatch GET * nth=2 : hold=asked\n")
    let server = scene.scene.server
    let person = scene.scene.whenHeld("asked") {
      // In this order: after the merge, the second query would find the file, perhaps before the answer arrives.
      server.release("asked")
      server.release("merge")
    }
    try scene.run()
    person.join()
    #expect(try scene.complaint() == nil)
    #expect(try scene.states() == ["done"])
    #expect(try merges(scene) == 1)
    #expect(try attempts(scene, "finish") == ["ok"])
    #expect(try attempts(scene, "verify").count >= 2, "it was queried meanwhile")
  }
}
