import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why a watch may miss changes, in remarks for people. None is repeated while its cause lasts, and at most five
/// folders are named at a time; nil for no remark. A value.
struct WatchRemarks: Sendable {
  /// Maximum number of folders that are reported because they cannot be watched.
  private static let mostTold = 5

  /// The reported limit of the system, until everything could be watched again.
  private var limit: String?
  private var hasToldLoss = false
  private var unwatched: Set<NameBytes> = []

  mutating func eventsWereLost() -> String? {
    guard !hasToldLoss else { return nil }
    hasToldLoss = true
    return "too many events at once for the system: the watch of the folders is renewed each time"
  }

  /// A folder cannot be watched; the system's reason is `code`.
  mutating func cannotWatch(_ path: NameBytes, _ code: Int32) -> String? {
    guard unwatched.count < Self.mostTold, unwatched.insert(path).inserted else { return nil }
    return "\"\(path.embedded)\" cannot be watched: \(systemText(code)); its changes are found by the next scan"
  }

  mutating func noteWatched(_ path: NameBytes) { unwatched.remove(path) }

  /// Nothing can be watched, because of a limit of the system.
  mutating func limitIsReached(_ code: Int32) -> String? {
    let reached =
      switch code {
      case ENOSPC: "more folders than the system allows to watch; raise fs.inotify.max_user_watches (sysctl)"
      case EMFILE: "too many watches or open files; raise fs.inotify.max_user_instances (sysctl) or ulimit -n"
      default: systemText(code)
      }
    guard limit != reached else { return nil }
    limit = reached
    return "the folders are not watched, only scanned at intervals: \(reached)"
  }

  mutating func everythingIsWatched() { limit = nil }
}
