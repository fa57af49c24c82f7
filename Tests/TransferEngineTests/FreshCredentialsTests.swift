import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// When requests get a credential, and how often its source is asked.
@Suite struct FreshCredentialsTests {
  private let clock = HandClock()
  private let isStopped = Lock(false)
  private let notices = Lock<[Notice]>([])
  private let answers = Mailbox<(String, FreshCredentials.Answer)>()

  private func fresh(patienceMs: Int64 = 60_000) -> FreshCredentials {
    FreshCredentials(clock, patienceMs: patienceMs, ReadStop { [isStopped] in isStopped.withLock(\.self) }) {
      [notices] notice in notices.withLock { $0.append(notice) }
    }
  }

  private func get(
    _ fresh: FreshCredentials, _ source: AskedCredential, _ name: String, for file: FileID? = nil
  ) {
    fresh.get(from: source, for: file) { [answers] in answers.put((name, $0)) }
  }

  /// The next `count` answers, by name.
  private func next(_ count: Int) throws -> [String: FreshCredentials.Answer] {
    var all: [String: FreshCredentials.Answer] = [:]
    while all.count < count {
      let some = try #require(answers.take(timeoutMs: 30_000), "there was no answer")
      try #require(!some.isEmpty, "there was no answer")
      for (name, answer) in some { all[name] = answer }
    }
    return all
  }

  private func token(_ answer: FreshCredentials.Answer?) -> String? {
    guard case .success(.bearer(let token)?)? = answer else { return nil }
    return token
  }

  /// A slow program delays no other destination, and is started once for all who wait for it.
  @Test func aSourceThatHangsHoldsUpNoOther() throws {
    let fresh = fresh()
    let gate = Mailbox<Bool>()
    let slow = AskedCredential { _, _ in
      _ = gate.take()
      return .success(.bearer(token: "slow"))
    }
    let quick = AskedCredential { _, _ in .success(.bearer(token: "quick")) }
    for n in 0..<9 { get(fresh, slow, "slow \(n)") }
    get(fresh, quick, "quick")
    #expect(token(try next(1)["quick"]) == "quick")
    gate.put(true)
    let others = try next(9)
    #expect(others.count == 9 && others.values.allSatisfy { token($0) == "slow" })
    #expect(slow.count == 1)
    fresh.end()
  }

  /// A held credential is returned on the same thread; when it is due, a new one is requested while the old one is
  /// still used.
  @Test func whatIsHeldIsGivenAtOnceAndRenewedBesides() throws {
    let fresh = fresh()
    let asked = Mailbox<Bool>()
    let source = AskedCredential { _, _ in
      asked.put(true)
      return .success(.bearer(token: "new"))
    }
    source.hold(HeldCredential(.bearer(token: "old")))
    get(fresh, source, "a")
    #expect(token(answers.take(timeoutMs: 0)?.first?.1) == "old")
    source.hold(HeldCredential(.bearer(token: "old"), isDue: true))
    get(fresh, source, "b")
    #expect(token(answers.take(timeoutMs: 0)?.first?.1) == "old")
    #expect(asked.take(timeoutMs: 30_000) == [true])
    fresh.end()
    #expect(source.count == 1)
  }

  /// A stop does not wait for the program to end.
  @Test func aStopEndsTheWait() throws {
    let fresh = fresh()
    let begun = Mailbox<Bool>()
    let source = AskedCredential { _, isOver in
      begun.put(true)
      while !isOver() { _ = Mailbox<Bool>().take(timeoutMs: 1) }
      return .failure(Failure(.engineInterrupted, "stopped"))
    }
    get(fresh, source, "a")
    _ = begun.take()
    isStopped.withLock { $0 = true }
    let answer = try next(1)["a"]
    #expect(throws: Failure(.engineInterrupted, "stopped")) { try answer?.get() }
    fresh.end()
  }

  /// A file that a person paused is released immediately; the others get the credential.
  @Test func aFileThatIsGivenUpWaitsNoLonger() throws {
    let fresh = fresh()
    let gate = Mailbox<Bool>()
    let source = AskedCredential { _, _ in
      _ = gate.take()
      return .success(.bearer(token: "t"))
    }
    get(fresh, source, "paused", for: FileID(rawValue: 1))
    get(fresh, source, "other", for: FileID(rawValue: 2))
    fresh.giveUp(FileID(rawValue: 1))
    let answer = try next(1)["paused"]
    #expect(#expect(throws: Failure.self) { try answer?.get() }?.code == .engineInterrupted)
    gate.put(true)
    #expect(token(try next(1)["other"]) == "t")
    fresh.end()
  }

  /// A service that is unavailable is asked again, and a person is notified once; one that refuses is not asked again.
  @Test(arguments: [(10_000 as Int64?, 60_000 as Int64, 4), (10_000, 25_000, 3), (nil, 60_000, 1)])
  func aServiceThatIsAwayIsAskedAgain(_ retryMs: Int64?, _ patienceMs: Int64, _ count: Int) throws {
    let fresh = fresh(patienceMs: patienceMs)
    let source = AskedCredential { [clock] n, _ in
      if n == 4 { return .success(.bearer(token: "t")) }
      // The wait itself takes no time on this clock.
      if let retryMs { clock.passes(afterLooks: 3, ms: retryMs) }
      return .failure(Failure(.authMissing, "away", retryAfterMs: retryMs))
    }
    get(fresh, source, "a")
    let answer = try next(1)["a"]
    #expect(source.count == count)
    #expect(token(answer) == (count == 4 ? "t" : nil))
    #expect(notices.withLock { $0.count } == (retryMs == nil ? 0 : 1))
    fresh.end()
  }
}

private final class AskedCredential: CredentialSource {
  typealias Give = @Sendable (Int, @Sendable () -> Bool) -> Result<Credential?, Failure>
  private let give: Give
  private let state = Lock<(count: Int, held: HeldCredential?)>((0, nil))

  init(_ give: @escaping Give) { self.give = give }

  var count: Int { state.withLock { $0.count } }
  func hold(_ held: HeldCredential) { state.withLock { $0.held = held } }

  let label = "test"
  var held: HeldCredential? { state.withLock { $0.held } }
  func refresh() {}
  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    return try give(number, isOver).get()
  }
}

/// A clock that advances by `ms` after it was read `looks` times.
private final class HandClock: TransferClock {
  private let state = Lock<(ms: Int64, looks: Int, moreMs: Int64)>((1_000, 0, 0))
  var wallMs: Int64 { bootMs }
  var bootMs: Int64 {
    state.withLock { state in
      if state.looks > 0 {
        state.looks -= 1
        if state.looks == 0 { state.ms += state.moreMs }
      }
      return state.ms
    }
  }
  func passes(afterLooks looks: Int, ms: Int64) { state.withLock { ($0.looks, $0.moreMs) = (looks, ms) } }
}
