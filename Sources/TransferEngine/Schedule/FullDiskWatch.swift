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

  /// There is no room for a file. Returns whether the batch rests from now on.
  mutating func refused(_ file: FileID, of batch: BatchID) -> Bool {
    refused[batch, default: []].insert(file)
    return refused[batch, default: []].count >= Self.mostInARow && batches.insert(batch).inserted
  }

  /// There was room for a file.
  mutating func fits(_ batch: BatchID) { refused[batch] = nil }
}

extension Failure {
  /// What follows from a failure of the target of a download. A disk that is full is no fault of the file, which waits
  /// for the next run, unless it would not fit on the empty disk.
  var remedyOfTarget: Remedy { isOfFullDisk ? .hold : .permanent }

  var isOfFullDisk: Bool { code == .localDiskFull && systemError != EFBIG }
}
