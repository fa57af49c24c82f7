import TransferModel

/// A word for `--state`: a state of files, or a name for several.
enum StateWord {
  /// The states it stands for; `backoff` is not a state of its own.
  static func states(_ word: String) -> (states: [FileState], isBackingOff: Bool)? {
    switch word {
    case "backoff": ([], true)
    case "running": ([.active, .finishing], false)
    case "verifying": ([.finishing], false)
    case "unfinished": ([.settling, .pending, .active, .finishing, .paused], false)
    case "finished": ([.done, .failed, .cancelled, .superseded], false)
    default: FileState(rawValue: word).map { ([$0], false) }
    }
  }

  /// All of them, for people.
  static let known =
    (FileState.allCases.map(\.rawValue) + ["backoff", "running", "verifying", "unfinished", "finished"])
    .joined(separator: ", ")
}
