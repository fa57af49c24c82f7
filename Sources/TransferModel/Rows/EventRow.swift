/// One row of `v_events`, with its files.
public struct EventRow: Sendable, Hashable {
  public var id: Int64
  public var atMs: Int64
  public var verb: String
  public var batch: BatchID?
  public var detail: String
  /// The number of its files; 0 for an event of a batch or the ledger.
  public var files: Int
  /// Those with the lowest and the highest number.
  public var firstFile, lastFile: FileID?
  /// Of the only file.
  public var path: NameBytes?

  package init(
    id: Int64, atMs: Int64, verb: String, batch: BatchID?, detail: String, files: Int, firstFile: FileID?,
    lastFile: FileID?, path: NameBytes?
  ) {
    self.id = id
    self.atMs = atMs
    self.verb = verb
    self.batch = batch
    self.detail = detail
    self.files = files
    self.firstFile = firstFile
    self.lastFile = lastFile
    self.path = path
  }

  /// The only file.
  public var file: FileID? { files == 1 ? firstFile : nil }
}
