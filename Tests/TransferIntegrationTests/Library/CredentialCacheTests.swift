import Testing
import TransferEngine
import TransferModel
import TransferProtocols

@testable import Transfers

/// When a credential is requested again.
@Suite struct CredentialCacheTests {
  private let clock = HandClock()
  private let asked = Lock(0)

  private func get(_ cache: CredentialCache, validMs: Int64?) throws(Failure) -> Credential? {
    try cache.credential(isOver: { false }) { _ in
      let count = asked.withLock { count in
        count += 1
        return count
      }
      let credential = Credential.bearer(token: "\(count)")
      return (.success(credential), CredentialCache.Fresh(credential: credential, validMs: validMs))
    }
  }

  private func fail(_ cache: CredentialCache) throws(Failure) -> Credential? {
    try cache.credential(isOver: { false }) { _ in
      asked.withLock { $0 += 1 }
      return (.failure(Failure(.authMissing, "away")), nil)
    }
  }

  @Test func aCredentialWithoutEndIsKept() throws {
    let cache = CredentialCache(clock, aheadMs: 900_000)
    #expect(try get(cache, validMs: nil) == .bearer(token: "1"))
    clock.advance(ms: 1 << 40)
    #expect(try get(cache, validMs: nil) == .bearer(token: "1"))
    cache.forget()
    #expect(try get(cache, validMs: nil) == .bearer(token: "2"))
  }

  @Test func aCredentialIsRenewedBeforeItsEnd() throws {
    let cache = CredentialCache(clock, aheadMs: 900_000)
    _ = try get(cache, validMs: 3_600_000)
    clock.advance(ms: 2_699_999)
    #expect(try get(cache, validMs: 3_600_000) == .bearer(token: "1"))
    clock.advance(ms: 1)
    #expect(try get(cache, validMs: 3_600_000) == .bearer(token: "2"))
    #expect(asked.withLock(\.self) == 2)
  }

  @Test func anEndBeyondAllTimesIsNone() throws {
    clock.advance(ms: 1_000)
    let cache = CredentialCache(clock, aheadMs: 900_000)
    _ = try get(cache, validMs: Int64.max)
    clock.advance(ms: 1 << 40)
    #expect(try get(cache, validMs: Int64.max) == .bearer(token: "1"))
  }

  @Test func aShortOneIsRenewedAfterHalfOfItsTime() throws {
    let cache = CredentialCache(clock, aheadMs: 900_000)
    _ = try get(cache, validMs: 60_000)
    clock.advance(ms: 29_999)
    #expect(try get(cache, validMs: 60_000) == .bearer(token: "1"))
    clock.advance(ms: 1)
    #expect(try get(cache, validMs: 60_000) == .bearer(token: "2"))
  }

  /// A new one is requested at most once a minute, and the failure shows when the old one has expired.
  @Test func theOldOneServesWhileNoNewOneCanBeHad() throws {
    let cache = CredentialCache(clock, aheadMs: 900_000)
    _ = try get(cache, validMs: 3_600_000)
    clock.advance(ms: 2_700_000)
    #expect(try fail(cache) == .bearer(token: "1"))
    #expect(try fail(cache) == .bearer(token: "1") && asked.withLock(\.self) == 2)
    clock.advance(ms: 60_000)
    #expect(try fail(cache) == .bearer(token: "1") && asked.withLock(\.self) == 3)
    clock.advance(ms: 840_000)
    #expect(throws: Failure.self) { try fail(cache) }
    #expect(try get(cache, validMs: nil) == .bearer(token: "5"))
  }

  /// What is reported without a request: nothing that has expired, and only once that it should be renewed.
  @Test func whatIsHeldIsValid() throws {
    let cache = CredentialCache(clock, aheadMs: 900_000)
    #expect(cache.held == nil)
    _ = try get(cache, validMs: 3_600_000)
    #expect(cache.held?.credential == .bearer(token: "1") && cache.held?.isDue == false)
    clock.advance(ms: 2_700_000)
    #expect(cache.held?.credential == .bearer(token: "1") && cache.held?.isDue == true)
    _ = try cache.credential(isOver: { false }) { [cache] _ in
      #expect(cache.held?.isDue == false, "it is being requested")
      return (.failure(Failure(.authMissing, "away")), nil)
    }
    clock.advance(ms: 900_000)
    #expect(cache.held == nil)
    _ = try get(cache, validMs: 0)
    #expect(cache.held == nil)
    cache.forget()
    #expect(cache.held == nil)
  }

  /// While one thread requests a credential, the others use the one that is still valid.
  @Test func aRenewalHoldsUpNobody() throws {
    let cache = CredentialCache(clock, aheadMs: 900_000)
    _ = try get(cache, validMs: 3_600_000)
    clock.advance(ms: 2_700_000)
    let seen = try cache.credential(isOver: { false }) { _ in
      let other = try? get(cache, validMs: nil)
      #expect(other == .bearer(token: "1"))
      return (.success(.bearer(token: "new")), .init(credential: .bearer(token: "new"), validMs: nil))
    }
    #expect(seen == .bearer(token: "new") && asked.withLock(\.self) == 1)
  }
}

/// Moves only when told to.
private final class HandClock: TransferClock {
  private let ms = Lock<Int64>(1_000)
  var wallMs: Int64 { ms.withLock(\.self) }
  var bootMs: Int64 { ms.withLock(\.self) }
  func advance(ms more: Int64) { ms.withLock { $0 += more } }
}
