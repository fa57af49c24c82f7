import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Determines whether the target disk of a batch is full, or only too small for one of its files: after the second file
/// in a row for which it has no room, no further file of the batch is begun in this run. A value.
struct FullDiskWatch: Sendable {
  static let mostInARow = 2

  private var refused: [BatchID: Set<FileID>] = [:]
  private(set) var batches: Set<BatchID> = []

  /// Records that the disk had no room for a file. Returns true if the batch is put on hold because of it.
  mutating func refused(_ file: FileID, of batch: BatchID) -> Bool {
    refused[batch, default: []].insert(file)
    return refused[batch, default: []].count >= Self.mostInARow && batches.insert(batch).inserted
  }

  /// Records that the disk had room for a file.
  mutating func fits(_ batch: BatchID) { refused[batch] = nil }
}

extension Failure {
  /// How the engine reacts when the target of a download fails. A full disk is not the file's fault: the file waits for
  /// the next run, unless it is too large even for the empty disk.
  var remedyOfTarget: FailureAction { isOfFullDisk || code == .policyLimit ? .hold : .permanent }

  var isOfFullDisk: Bool { code == .localDiskFull && systemError != EFBIG }
}
