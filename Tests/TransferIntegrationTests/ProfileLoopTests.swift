import Receiver
import Testing
import TransferLedger
import TransferModel
import Transfers

/// Profiles by the shipped engine: servers that never have enough.
@Suite struct ProfileLoopTests {
  private func subject(_ name: String) throws -> ConformanceSubject {
    try #require(ConformanceSubject.all.first { $0.name == "profile \(name)" })
  }

  /// The file fails in the end, after few requests.
  private func ends(_ subject: ConformanceSubject, _ script: String) throws -> Int {
    let scene = try ConformanceScene(subject, size: 3 * subject.chunkSize + 5, script: script)
    try scene.add()
    for _ in 0..<3 {
      try scene.run()
      scene.wait(hours: 1)
    }
    let (states, messages) = (try scene.states(), try scene.messages())
    #expect(states.count == 1 && states[0].hasPrefix("failed"), "\(states) \(messages)")
    return try scene.requestCount
  }

  @Test(arguments: ["numbered-chunks", "flow", "dropzone", "resumablejs", "qiniu-v2"])
  func aLaterChunkThatIsNeverFoundIsNotSentForEver(_ name: String) throws {
    let subject = try subject(name)
    let count = try ends(subject, "match \(subject.dataMethod) \(subject.dataPath) every=3 : status=404\n")
    #expect(count <= 40)
  }

  @Test(arguments: ["numbered-chunks", "numbered-chunks-form", "dropzone"])
  func aMergeThatIsNeverFoundIsNotAskedForEver(_ name: String) throws {
    let count = try ends(try subject(name), "match POST *merge* : status=404\n")
    #expect(count <= 24)
  }

  @Test(arguments: ["google", "graph"]) func aServerThatFallsBackEachTimeIsNotFollowedForEver(_ name: String) throws {
    let count = try ends(try subject(name), "match PUT * every=2 : wrong-offset=200000\n")
    #expect(count <= 60)
  }
}
