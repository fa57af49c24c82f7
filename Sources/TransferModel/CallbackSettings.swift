/// One receiver of callbacks: the event, the receiver and the method. Contains references to secrets, never secrets.
public struct CallbackSetting: Sendable, Hashable, Codable {
  public var event: CallbackEvent
  public var kind: CallbackKind
  /// For ``CallbackKind/exec`` a program and its arguments, as parsed by ``ShellWords``; for ``CallbackKind/mail`` a
  /// program and the addresses; otherwise an `http` or `https` URL, or a reference to one (`env:NAME`, `file:PATH`, …).
  public var target: String
  /// A reference to the key that signs webhooks; empty for none.
  public var secret = ""
  /// For the end of a job's run.
  public var pace = CallbackPace.each

  public init(
    _ event: CallbackEvent, _ kind: CallbackKind, _ target: String, secret: String = "",
    pace: CallbackPace = .each
  ) {
    (self.event, self.kind, self.target, self.secret, self.pace) = (event, kind, target, secret, pace)
  }
}

/// Which ends of job runs are reported to a receiver. Unreported ends are counted, and the next report includes their
/// number.
public enum CallbackPace: Sendable, Hashable, Codable {
  case each
  /// A run whose result differs from that of the last reported run, or a run with the same result after this time.
  case changes(remindMs: Int64)
  /// A successful run, if an unsuccessful one was reported before it.
  case recovery

  /// - Parameters:
  ///   - isSuccess: how this run ended.
  ///   - last: the last reported run; nil for none.
  package func tells(isSuccess: Bool, result: String, after last: ToldRun?, nowMs: Int64) -> Bool {
    switch self {
    case .each: return true
    case .recovery: return isSuccess && last?.isSuccess == false
    case .changes(let remindMs):
      guard let last, last.result == result else { return true }
      // A report in the future: the clock was set back.
      return nowMs < last.recordedMs || nowMs - last.recordedMs >= remindMs
    }
  }
}

/// The end of a run that was reported to a receiver, or is about to be.
package struct ToldRun: Sendable, Hashable {
  package var result: String
  package var isSuccess: Bool
  /// Number of unsuccessful runs of the job up to then.
  package var failedRuns: Int
  /// Milliseconds since 1970 UTC.
  package var recordedMs: Int64

  package init(result: String, isSuccess: Bool, failedRuns: Int, recordedMs: Int64) {
    (self.result, self.isSuccess) = (result, isSuccess)
    (self.failedRuns, self.recordedMs) = (failedRuns, recordedMs)
  }
}

/// The event of a callback.
public enum CallbackEvent: String, Sendable, Hashable, Codable, CaseIterable {
  /// How a file ended.
  case done, failed, unknown
  /// The end of a batch: all files are done; or at least one failed, was cancelled or is unknown.
  case batchDone = "batch_done"
  case batchFailed = "batch_failed"
  /// The start or the result of a job run.
  case started, succeeded, unsuccessful

  /// The name in documents: `file.done`, `job.started`.
  public var name: String {
    switch self {
    case .done, .failed, .unknown: "file.\(rawValue)"
    case .batchDone: "batch.done"
    case .batchFailed: "batch.failed"
    case .started, .succeeded, .unsuccessful: "job.\(rawValue)"
    }
  }
}

/// How a callback is delivered.
public enum CallbackKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// Runs a program with the document on its standard input.
  case exec
  /// Posts the document to a URL.
  case webhook
  /// Notifies a dead man's switch by POST to `URL/start`, `URL` and `URL/fail`.
  case ping
  /// Sends a mail by a program with the interface of sendmail.
  case mail
}

/// The state of a callback.
package enum CallbackState: String, Sendable, Hashable, CaseIterable {
  case waiting, delivering, delivered
  case gaveUp = "gave_up"
  case cancelled
}
