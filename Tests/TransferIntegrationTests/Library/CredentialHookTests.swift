import Receiver
import Testing
import TransferEngine
import TransferModel
import TransferProtocols

@testable import Transfers

/// Credentials from the program: requested when they are needed, and again when a server refused them.
@Suite struct CredentialHookTests {
  private func statuses(_ scene: Scene) throws -> [Int] {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").compactMap { event in
      if case .answer(let status) = event.kind { status } else { nil }
    }
  }

  @Test func aRefusedCredentialIsAskedForAgain() async throws {
    let scene = try Scene(bearerToken: "right")
    let files = try scene.makeTree(seed: 12, count: 6)
    let asked = Lock<[CredentialRequest]>([])
    let client = try await TransferClient.open(scene.storePath) { request in
      asked.withLock { $0.append(request) }
      return .bearer(token: request.reason == .first ? "wrong" : "right")
    }
    _ = try await client.add(["\(scene.root)/source"], scene.options())
    let result = try await client.run(RunOptions(workers: 1))
    #expect(result.done == files.count && result.blocked.isEmpty, "\(result)")
    #expect(asked.withLock { $0.map(\.reason) } == [.first, .refused])
    #expect(asked.withLock { $0.allSatisfy { $0.destination == "\(scene.url)/up/" && $0.kind == .http } })
    let statuses = try statuses(scene)
    #expect(statuses.first == 401, "the first request had the wrong one")
    #expect(statuses.filter { $0 == 201 }.count == files.count)
    #expect(statuses.last == 201, "and the last ones the right one: \(statuses)")
  }

  @Test func whereTheHookThrowsTheFilesWaitAndNothingIsTold() async throws {
    struct Secretive: Error { let text = "hunter2" }
    let scene = try Scene(bearerToken: "right")
    _ = try scene.makeTree(seed: 13, count: 2)
    let client = try await TransferClient.open(scene.storePath) { _ in throw Secretive() }
    let batch = try #require(try await client.add(["\(scene.root)/source"], scene.options()).batch)
    let result = try await client.run()
    let error = try #require(result.blocked[batch], "\(result)")
    #expect(error.kind == .auth && error.cause.contains("Secretive") && !"\(error)".contains("hunter2"), "\(error)")
    #expect(result.done == 0 && result.failed == 0 && result.left == 2)
  }

  // MARK: - The source that the engine uses

  private final class Recorded: CredentialSource {
    func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
      .basic(user: "u", password: "recorded")
    }
    func refresh() {}
    var label: String { "recorded" }
  }

  private func source(_ clock: any TransferClock = MovableClock(), _ hook: @escaping CredentialHook) -> HookedCredential
  {
    HookedCredential(hook, for: "https://host/", .http, otherwise: Recorded(), clock: clock)
  }

  /// Requests one as the engine does: on a thread that does not belong to Swift's tasks.
  private func ask(_ source: HookedCredential, begins: @escaping @Sendable () -> Void = {}) async throws -> Credential?
  {
    let result = await withCheckedContinuation { (waiting: CheckedContinuation<Result<Credential?, Failure>, Never>) in
      let thread = WorkerThread {
        begins()
        waiting.resume(returning: Result { () throws(Failure) in try source.credential { false } })
      }
      thread.detach()
    }
    return try result.get()
  }

  @Test func severalThreadsAskOnce() async throws {
    let (asked, begun, all) = (Lock(0), Lock(0), AsyncStream<Void>.makeStream())
    let source = source { _ in
      asked.withLock { $0 += 1 }
      for await _ in all.stream {}
      return .bearer(token: "t")
    }
    let begins: @Sendable () -> Void = {
      let count = begun.withLock { begun in
        begun += 1
        return begun
      }
      if count == 8 { all.continuation.finish() }
    }
    let found = try await withThrowingTaskGroup(of: Credential?.self) { group in
      for _ in 0..<8 { group.addTask { try await ask(source, begins: begins) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(found == Array(repeating: .bearer(token: "t"), count: 8))
    #expect(asked.withLock(\.self) == 1)
  }

  @Test func whatIsNoLongerValidIsAskedForAgain() async throws {
    let (clock, reasons) = (MovableClock(), Lock<[CredentialRequest.Reason]>([]))
    let source = source(clock) { request in
      reasons.withLock { $0.append(request.reason) }
      return .bearer(token: "t").valid(for: .seconds(1_000))
    }
    _ = (try await ask(source), try await ask(source))
    clock.advance(ms: 500_000)
    _ = try await ask(source)
    #expect(reasons.withLock(\.self) == [.first])
    clock.advance(ms: 500_001)
    _ = try await ask(source)
    source.refresh()
    _ = try await ask(source)
    #expect(reasons.withLock(\.self) == [.first, .expired, .refused])
  }

  @Test func nilLeavesItToWhatIsRecorded() async throws {
    #expect(try await ask(source { _ in nil }) == .basic(user: "u", password: "recorded"))
  }

  @Test func aCredentialOfAnotherKindIsRefusedWithoutBeingShown() async throws {
    let source = source { _ in .aws(accessKey: "AK", secretKey: "hunter2") }
    let failure = await #expect(throws: Failure.self) { _ = try await ask(source) }
    #expect(failure?.code == .authMissing && failure?.message.contains("hunter2") == false)
    let supplied = SuppliedCredential.basic(user: "u", password: "hunter2")
    #expect(!"\(supplied) \(String(reflecting: supplied))".contains("hunter2"))
    var dumped = ""
    dump(supplied, to: &dumped)
    #expect(!dumped.contains("hunter2"), "\(dumped)")
  }
}
