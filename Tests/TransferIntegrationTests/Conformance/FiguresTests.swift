import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel
import Transfers

/// The final figures show what the server got, whichever answer was lost on the way.
@Suite struct FiguresTests {
  typealias Subject = ConformanceSubject

  /// Compares what a push and a run report at the end with what the receiver counted.
  private func check(
    _ scene: ConformanceScene, _ added: AddResult, _ summary: RunResult, _ what: String
  ) throws {
    guard try scene.states() == ["done"] else { return }
    let size = Int64(scene.content.count)
    let totals = try scene.look { try $0.totals(of: added.files, nowMs: 0) }
    #expect(totals.files.byState == [.done: 1], "\(what)")
    #expect(totals.bytesAckedSince == size, "\(what): acknowledged, according to the push")
    #expect(summary.bytesAcked == size, "\(what): acknowledged, according to the run")
    let received = try scene.record().reduce(Int64(0)) { sum, event in
      if case .bytes(let range, _) = event.kind { sum + range.length } else { sum }
    }
    #expect(totals.files.bytesTransferred == summary.bytesTransferred, "\(what)")
    // Besides the chunks the receiver counted small bodies of steps; it did not count a body that it refused.
    #expect(totals.files.bytesUnacked > received - size - 4_096, "\(what): sent again")
    #expect(totals.files.bytesUnacked <= Int64(scene.subject.chunkSize), "\(what): sent again")
  }

  @Test(arguments: Subject.withSession) func bytesOfALostAnswerCountOnce(subject: Subject) throws {
    let size = 3 * min(subject.chunkSize, 1 << 20) + 5
    for n in 1...6 {
      let scene = try ConformanceScene(subject, size: size, script: "match * * nth=\(n) : lose-answer\n")
      let added = try scene.add()
      let summary = try scene.run()
      try check(scene, added, summary, "answer \(n) lost")
    }
  }

  @Test(arguments: Subject.appending) func bytesOfACutBodyCountOnce(subject: Subject) throws {
    let scene = try ConformanceScene(
      subject, size: 3 * subject.chunkSize + 5,
      script: "match \(subject.dataMethod) \(subject.dataPath) nth=2 : cut-after=40000\n")
    let added = try scene.add()
    let summary = try scene.run()
    try check(scene, added, summary, "a body cut")
  }
}
