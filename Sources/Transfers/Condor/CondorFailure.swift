import TransferModel
import TransferProtocols

/// Why a file failed, in the terms of HTCondor.
struct CondorFailure {
  let outcome: PairOutcome
  let host: String

  /// Seconds after which a retry makes sense; -1 for never.
  func retrySeconds(wallMs: Int64) -> Int64 {
    guard outcome.isPassing else { return -1 }
    return max(0, ((outcome.retryAtMs(wallMs: wallMs) ?? wallMs) - wallMs + 999) / 1_000)
  }

  func ad(wallMs: Int64) -> ClassAd {
    ClassAd(
      [
        ("Retryable", .integer(retrySeconds(wallMs: wallMs))),
        ("ErrorCode", .integer(outcome.last?.httpStatus ?? outcome.last?.curlCode ?? 1)),
        ("ErrorString", .string(outcome.text)),
      ] + kind)
  }

  private var kind: [(String, ClassAd.Value?)] {
    switch outcome.code {
    case .netDNS: failed("FailedName", "Resolution", "Unknown")
    case .netRefused, .netUnreachable, .netConnectTimeout, .netTLS, .netCert: failed("FailedServer", "Contact")
    case .http401, .authMissing, .authExpired:
      failed("FailedServer", "Authorization", "Authentication") + [("ShouldRefresh", .boolean(true))]
    case .http403, .authRefused, .authNeedsURL:
      failed("FailedServer", "Authorization", "Authorization") + [("ShouldRefresh", .boolean(false))]
    case .http404, .http410, .protoNoDestination: failed("FailedServer", "Specification")
    case .localDiskFull: failed("FailedServer", "Transfer", "NoSpace")
    case .http507: failed("FailedServer", "Transfer", "Quota")
    case .netTimeout: failed("FailedServer", "Transfer", "TimedOut")
    case .netStalled: failed("FailedServer", "Transfer", "TooSlow")
    case .some(let code) where code.category == .network || code.category == .server:
      failed("FailedServer", "Transfer", "Unknown")
    case nil where outcome.error == nil: failed("FailedServer", "Transfer", "TimedOut")
    case nil where outcome.error?.kind == .storeFull: failed("FailedServer", "Transfer", "NoSpace")
    default:
      [
        ("ErrorType", .string("Parameter")), ("PluginVersion", .string(TransferClient.version)),
        ("PluginLaunched", .boolean(true)),
      ]
    }
  }

  private func failed(_ name: String, _ type: String, _ failure: String? = nil) -> [(String, ClassAd.Value?)] {
    [("ErrorType", .string(type)), (name, .string(host)), ("FailureType", failure.map { .string($0) })]
  }
}
