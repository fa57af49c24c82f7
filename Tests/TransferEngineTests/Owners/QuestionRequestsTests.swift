import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferLedger

/// The running queries about a done file.
@Suite struct QuestionRequestsTests {
  private let run: RunFixture
  private let mailbox = Mailbox<QuestionRequests.Event>()
  private let requests: QuestionRequests
  private let question: Question

  /// One file is done; nothing has been queried yet.
  init() throws {
    run = try RunFixture()
    let batch = try run.add("a")
    run.settle()
    run.answer(201)
    requests = QuestionRequests(run.engine, .never, report: { [mailbox] in mailbox.put($0) })
    let host = QuestionHost(HostGate(Concurrency(first: 2, highest: 2, isExplicit: true)))
    let target = QuestionTarget(try run.server.resolve(BatchSettings(destination: "one")), host)
    question = Question(
      DoneUpload(
        id: FileID(rawValue: 1), batch: batch, uid: .make(wallMs: 0), path: NameBytes("/a"), key: NameBytes("a"),
        size: 10, mtimeNs: 0, proof: FileProof(confirmation: .size, etag: "e")), target)
  }

  /// The next event, which is certain to come.
  private func handleNext() throws -> QuestionRequests.Progress {
    let events = try #require(mailbox.take(timeoutMs: nil))
    return try events.map { try requests.handle($0) }.last ?? .underWay
  }

  /// Sends the query.
  private func ask() throws {
    requests.begin(question, .verify)
    while !question.isSent { _ = try handleNext() }
    #expect(run.server.received.count == 2)
  }

  /// The connection was refused before the sleep, and the attempt is being closed: the network may be there again.
  @Test func aSleepEndsTheWaitOfAQueryThatIsBeingRecorded() throws {
    try ask()
    run.server.refuseConnection()
    _ = try handleNext()
    #expect(question.dueMs > run.engine.bootMs)
    requests.endBySleep()
    guard case .unanswered(let again) = try handleNext() else { throw Surprise("it is not repeated") }
    #expect(again === question && question.dueMs == 0)
    #expect(try run.attempts() == ["part ok", "verify retry net.refused"])
    requests.end()
  }

  @Test func aSleepRepeatsAQueryThatWasSent() throws {
    try ask()
    requests.endBySleep()
    _ = try handleNext()
    guard case .unanswered(let again) = try handleNext() else { throw Surprise("it is not repeated") }
    #expect(again === question && question.dueMs == 0)
    #expect(try run.attempts() == ["part ok", "verify interrupted engine.slept"])
    requests.end()
  }
}

private struct Surprise: Error {
  let text: String
  init(_ text: String) { self.text = text }
}
