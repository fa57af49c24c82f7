public import TransferModel

/// A file that `add` would pass to the ledger.
public struct SourceCandidate: Sendable {
  public let path: NameBytes
  public let key: NameBytes
  package let identity: SourceIdentity
  /// How much of the path may lead through symbolic links.
  package let root: Int
}

/// Passes files on in pages.
final class SourceExaminer: FileSink {
  private static let pageSize = 1_000
  private let body: ([SourceCandidate]) throws(TransferError) -> Void
  private let notice: @Sendable (Notice) -> Void
  private var page: [SourceCandidate] = []
  private var counts = SourceCounts()

  init(
    notice: @escaping @Sendable (Notice) -> Void,
    _ body: @escaping ([SourceCandidate]) throws(TransferError) -> Void
  ) {
    self.body = body
    self.notice = notice
  }

  func take(_ found: FoundFile) throws(TransferError) {
    page.append(
      SourceCandidate(
        path: NameBytes(Array(found.path)), key: NameBytes(Array(found.key)), identity: found.identity,
        root: found.root))
    if page.count >= Self.pageSize { try flush() }
  }

  func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
    counts.failed += 1
    notice(.failed(path: path, failure))
  }

  /// `seen` has the counts of findings that the scan did not pass to it.
  func finish(with seen: SourceCounts) throws(TransferError) -> SourceCounts {
    try flush()
    counts.add(unrecorded: seen)
    return counts
  }

  private func flush() throws(TransferError) {
    defer { page.removeAll(keepingCapacity: true) }
    if !page.isEmpty { try body(page) }
  }
}
