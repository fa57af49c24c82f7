import TransferEngine
import TransferModel
import TransferProtocols

/// The credential of the AWS chain: obtained when it is first needed, renewed before it expires, and obtained again
/// after the server refused it.
final class AWSCredentials: CredentialSource {
  /// Source: botocore 1.44.5, `_DEFAULT_ADVISORY_REFRESH_TIMEOUT`.
  static let renewAheadMs: Int64 = 900_000

  /// The delay before an unavailable service is queried again, in milliseconds.
  static let retryMs: Int64 = 10_000

  private let profile: String?
  private let clock: any TransferClock
  private let cache: CredentialCache

  init(profile: String?, clock: any TransferClock = SystemClock()) {
    (self.profile, self.clock) = (profile, clock)
    cache = CredentialCache(clock, aheadMs: Self.renewAheadMs)
  }

  var label: String { "aws:\(profile ?? "default chain")" }

  func refresh() { cache.forget() }

  var held: HeldCredential? { cache.held }

  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    try cache.credential(isOver: isOver) { _ in
      do throws(Failure) {
        let found = try fetch(isOver)
        let validMs = found.expiresAtMs.map { max(0, $0 -| clock.civilMs) }
        return (.success(found.credential), CredentialCache.Fresh(credential: found.credential, validMs: validMs))
      } catch {
        return (.failure(error), nil)
      }
    }
  }

  private func fetch(_ isOver: @escaping @Sendable () -> Bool) throws(Failure) -> TemporaryCredential {
    let environment: AWSEnvironment
    do throws(TransferError) { environment = try AWSEnvironment(profile: profile) } catch {
      throw Failure(.authMissing, error.cause)
    }
    guard let source = environment.source else {
      throw Failure(.authMissing, "none found in \(environment.searched)")
    }
    do throws(CredentialFault) {
      return try AWSCredentialFetch(environment, clock, isOver: isOver).fetch(source)
    } catch {
      if isOver() { throw Failure(.engineInterrupted, "stopped while waiting for a credential") }
      throw Failure(
        .authMissing, "\(source.label): \(error.cause)", retryAfterMs: error.isTransient ? Self.retryMs : nil)
    }
  }
}
