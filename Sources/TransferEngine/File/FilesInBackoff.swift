import TransferLedger
import TransferModel

/// The active files with chunks in backoff. Used by the engine's thread.
struct FilesInBackoff {
  private var files: [FileID: FileWork] = [:]

  var ids: Dictionary<FileID, FileWork>.Keys { files.keys }

  /// Number of chunks in backoff.
  var chunkCount: Int { files.values.reduce(0) { $0 + $1.machine.backoffs.count } }

  /// Time until the next backoff ends, in milliseconds; nil for none. A chunk that is due already waits for capacity,
  /// which is announced by an event.
  func waitMs(nowMs: Int64) -> Int64? {
    var next: Int64?
    for work in files.values {
      if let due = work.machine.backoffs.nextMs(after: nowMs) { next = min(next ?? .max, due) }
    }
    return next.map { $0 - nowMs }
  }

  /// Files with a chunk that may be sent again.
  func due(nowMs: Int64) -> [FileID] { files.filter { $0.value.machine.backoffs.isAnyDue(nowMs: nowMs) }.map(\.key) }

  /// Files that only wait, and for long, with the time when they are due.
  func idle(nowMs: Int64) -> [(file: FileID, dueMs: Int64)] {
    files.compactMap { id, work in
      guard work.machine.openCount == 0, let due = work.machine.backoffs.firstMs, due > nowMs + 2_000,
        work.machine.unsentCount == work.machine.backoffs.count || work.machine.backoffs.isFailingWidely
      else { return nil }
      return (id, due)
    }
  }

  /// The machine of a file has advanced.
  mutating func note(_ work: FileWork) {
    let id = work.machine.claimed.id
    files[id] = work.machine.backoffs.isEmpty || work.machine.isReleased ? nil : work
  }

  mutating func remove(_ file: FileID) { files[file] = nil }
}
