import ArgumentParser
import TransferModel
import Transfers

/// The exit codes of the process, printed by `transfers help exit-codes`. Below 64 they are outcomes of transfers; 64
/// to 78 are `sysexits.h` and nothing was started; 128 + n as in shells.
enum ExitCode: Int32, CaseIterable, Sendable {
  case ok = 0
  case error = 1
  case partial = 3
  case allFailed = 4
  case workLeft = 5
  case locked = 6
  case store = 7
  case mismatch = 8
  case empty = 9
  case usage = 64
  case badData = 65
  case noSource = 66
  case unavailable = 69
  case auth = 77
  case config = 78
  case timeout = 124
  case interrupted = 130
  case closed = 141
  case terminated = 143

  /// The name with spaces, for display.
  var words: String { name.replacing("_", with: " ") }

  /// Stable; the last part of `error[…]` where the cause has no name of its own.
  var name: String {
    switch self {
    case .ok: "ok"
    case .error: "error"
    case .partial: "partial"
    case .allFailed: "all_failed"
    case .workLeft: "work_left"
    case .locked: "locked"
    case .store: "store"
    case .mismatch: "mismatch"
    case .empty: "empty"
    case .usage: "usage"
    case .badData: "bad_data"
    case .noSource: "no_source"
    case .unavailable: "unavailable"
    case .auth: "auth"
    case .config: "config"
    case .timeout: "timeout"
    case .interrupted: "interrupted"
    case .closed: "closed"
    case .terminated: "terminated"
    }
  }

  var meaning: String {
    switch self {
    case .ok: "everything selected is done, or unchanged"
    case .error: "unexpected internal error, or the output could not be written"
    case .partial:
      "at least one file failed, is unknown or was cancelled; others are done or left. Or --fail-on matched"
    case .allFailed: "finished; no file of the selection is done"
    case .workLeft: "stopped on purpose with work left; run again"
    case .locked: "another engine owns the ledger"
    case .store:
      "the ledger is missing, corrupt, newer, read-only, on a full disk, locked, or breaks an invariant"
    case .mismatch:
      "an integrity check failed: content differs from what was sent, expected or recorded, or prove found a violation"
    case .empty: "nothing matched (only with --fail-if-empty), or there is nothing to prove"
    case .usage: "wrong command, option or argument; nothing was started"
    case .badData: "a list of files is invalid; nothing was started (a job has sent what was left)"
    case .noSource:
      "no such source, or a list names files that do not exist; nothing was started (a job has sent the rest)"
    case .unavailable: "no scheduler was found, or it did not accept the job"
    case .auth: "no usable credentials, or they were refused: the files of that destination wait, the others were sent"
    case .config: "an unusable destination or setting: its files wait, the others were sent"
    case .timeout: "wait --timeout or push --wait expired; nothing was stopped"
    case .interrupted: "second Ctrl-C, or the first before a run began: stopped immediately, the state is saved"
    case .closed: "pull to standard output: the reader closed the pipe; nothing is printed"
    case .terminated: "second SIGTERM, or the first before a run began: stopped immediately, the state is saved"
    }
  }

  /// Whether repeating the command can succeed without any change.
  var isRetryable: Bool {
    switch self {
    case .workLeft, .locked, .timeout, .interrupted, .terminated: true
    default: false
    }
  }

  /// The code for an operation that could not be carried out.
  init(_ kind: TransferError.Kind) {
    switch kind {
    case .locked, .leaseLost: self = .locked
    case .storeMissing, .storeCorrupt, .storeNewer, .storeReadOnly, .storeFull, .storeBusy, .storeUnsuitable, .storeIO:
      self = .store
    case .usage: self = .usage
    case .noSource: self = .noSource
    case .badList: self = .badData
    case .unavailable: self = .unavailable
    case .auth: self = .auth
    case .config: self = .config
    case .interrupted: self = .workLeft
    default: self = .error
    }
  }

  /// The code for processed files. If several apply, 8 takes precedence over 4, 4 over 3, 3 over 5. "Nothing succeeded"
  /// is only used for finished work.
  init(succeeded: Int, failed: Int, mismatched: Int, left: Int) {
    if mismatched > 0 {
      self = .mismatch
    } else if failed > 0 {
      self = succeeded == 0 && left == 0 ? .allFailed : .partial
    } else {
      self = left > 0 ? .workLeft : .ok
    }
  }
}
