public import TransferModel

/// A file that an `add` would hand to the ledger.
public struct SourceCandidate: Sendable {
  public let path: NameBytes
  public let key: NameBytes
  public let identity: SourceIdentity
}

/// Gives files on in pages, and keeps back what was given before.
final class SourceExaminer: FileSink {
  private static let pageSize = 1_000
  private let body: ([SourceCandidate]) throws(TransferError) -> Void
  private let notice: @Sendable (SourceNotice) -> Void
  private var page: [SourceCandidate] = []
  /// Hashes instead of keys, so that a plan for millions of files fits into memory.
  private var seen: Set<Int> = []
  private let watchesKeys: Bool
  private var counts = SourceAdmitter.Counts()

  init(
    watchesKeys: Bool, notice: @escaping @Sendable (SourceNotice) -> Void,
    _ body: @escaping ([SourceCandidate]) throws(TransferError) -> Void
  ) {
    self.watchesKeys = watchesKeys
    self.body = body
    self.notice = notice
  }

  func take(
    path: BorrowedName, key: BorrowedName, _ identity: SourceIdentity, mode: UInt32
  ) throws(TransferError) {
    guard !watchesKeys || isNew(key) else {
      counts.repeated += 1
      return
    }
    page.append(SourceCandidate(path: NameBytes(Array(path)), key: NameBytes(Array(key)), identity: identity))
    if page.count >= Self.pageSize { try flush() }
  }

  private func isNew(_ key: BorrowedName) -> Bool {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return seen.insert(hasher.finalize()).inserted
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    counts.failed += 1
    notice(.failed(path: path, failure))
  }

  func finish() throws(TransferError) -> SourceAdmitter.Counts {
    try flush()
    return counts
  }

  private func flush() throws(TransferError) {
    defer { page.removeAll(keepingCapacity: true) }
    if !page.isEmpty { try body(page) }
  }
}
