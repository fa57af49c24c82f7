import TransferModel

/// The row that stands for a key, or the newest that did.
struct StandingFile {
  var id: FileID
  var batch: BatchID
  var generation: Int
  var state: FileState
  /// nil when its source could not even be looked at.
  var identity: SourceIdentity?
  var isSamePath: Bool
  var isStaged: Bool

  /// Nothing but the content can show that it is another version.
  func mayBe(_ other: SourceIdentity) -> Bool { identity.map { $0.relation(to: other) != .other } ?? false }

  /// Whether it may be the content that was sent. What may have arrived is not sent again because its file was moved, copied
  /// back or mounted elsewhere.
  func hasContent(like other: SourceIdentity) -> Bool {
    identity?.size == other.size && identity?.mtimeNs == other.mtimeNs
  }
}
