public import TransferModel

/// Source files that are recorded together. Their names share one buffer, because there may be millions of them.
public struct AdmissionPage: Sendable {
  struct Entry: Sendable {
    var start: Int
    var pathCount: Int
    var keyCount: Int
    /// nil for a source that cannot be sent; its cause is the next of ``AdmissionPage/failures``.
    var identity: SourceIdentity?
    var mode: UInt32
    /// Position in ``AdmissionPage/properties``; -1 for none.
    var properties: Int
    /// See ``NewFile/isCompared``.
    var isCompared: Bool
    /// See ``NewFile/root``.
    var root: Int?
    /// The result of comparing its content.
    var outcome: ContentOutcome?
  }

  private(set) var entries: [Entry] = []
  private(set) var failures: [Failure] = []
  /// The distinct properties of its files, which are few.
  private(set) var properties: [ObjectProperties] = []
  /// The current identities of the folders of sources that are to be deleted or moved.
  package var folders: [NameBytes: FolderIdentity] = [:]
  /// The folders of sources that are reached through symbolic links.
  package var linkedFolders: [NameBytes: LinkedFolder] = [:]
  private var bytes: [UInt8] = []

  public init() {}

  public var count: Int { entries.count }
  /// Length of all names.
  public var byteCount: Int { bytes.count }

  package mutating func append(
    path: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ identity: SourceIdentity, mode: UInt32,
    properties: ObjectProperties? = nil, isCompared: Bool = false, root: Int? = nil
  ) {
    append(path, key, identity, mode, properties, isCompared, root)
  }

  /// Appends a file of another page whose content had to be compared with that of an older row
  /// (``PageAdmission/moved``).
  package mutating func append(
    _ index: Int, of page: AdmissionPage, _ identity: SourceIdentity, _ outcome: ContentOutcome
  ) {
    let entry = page.entries[index]
    let middle = entry.start + entry.pathCount
    entries.append(
      Entry(
        start: bytes.count, pathCount: entry.pathCount, keyCount: entry.keyCount, identity: identity, mode: entry.mode,
        properties: number(of: entry.properties < 0 ? nil : page.properties[entry.properties]),
        isCompared: entry.isCompared, root: entry.root, outcome: outcome))
    bytes.append(contentsOf: page.bytes[entry.start..<middle + entry.keyCount])
  }

  package func root(_ index: Int) -> Int? { entries[index].root }

  package func identity(_ index: Int) -> SourceIdentity? { entries[index].identity }

  /// Appends a source that was named but cannot be sent: it is recorded as `failed`.
  public mutating func append(path: NameBytes, key: NameBytes, _ failure: Failure) {
    failures.append(failure)
    path.bytes.withUnsafeBytes { path in key.bytes.withUnsafeBytes { append(path, $0, nil, 0) } }
  }

  private mutating func append(
    _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ identity: SourceIdentity?, _ mode: UInt32,
    _ properties: ObjectProperties? = nil, _ isCompared: Bool = false, _ root: Int? = nil
  ) {
    entries.append(
      Entry(
        start: bytes.count, pathCount: path.count, keyCount: key.count, identity: identity, mode: mode,
        properties: number(of: properties), isCompared: isCompared, root: root))
    bytes.append(contentsOf: path)
    bytes.append(contentsOf: key)
  }

  private mutating func number(of set: ObjectProperties?) -> Int {
    guard let set, !set.isEmpty else { return -1 }
    if let known = properties.lastIndex(of: set) { return known }
    properties.append(set)
    return properties.count - 1
  }

  public mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    failures.removeAll(keepingCapacity: true)
    properties.removeAll(keepingCapacity: true)
    folders.removeAll(keepingCapacity: true)
    linkedFolders.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  public func path(_ index: Int) -> NameBytes {
    let entry = entries[index]
    return NameBytes(Array(bytes[entry.start..<entry.start + entry.pathCount]))
  }

  public func key(_ index: Int) -> NameBytes {
    let start = entries[index].start + entries[index].pathCount
    return NameBytes(Array(bytes[start..<start + entries[index].keyCount]))
  }

  /// Calls `body` for every entry with its position, path and key.
  func forEach(
    _ body: (Int, Entry, _ path: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try bytes.withUnsafeBytes { bytes in
      for (index, entry) in entries.enumerated() {
        let middle = entry.start + entry.pathCount
        try body(
          index, entry, UnsafeRawBufferPointer(rebasing: bytes[entry.start..<middle]),
          UnsafeRawBufferPointer(rebasing: bytes[middle..<middle + entry.keyCount]))
      }
    }
  }
}

/// The batch that files are recorded for. It is created with the first file that has to be recorded, in the same
/// transaction, so that no empty batch is left if there is nothing new.
public struct AdmissionTarget: Sendable {
  let batch: NewBatch
  let uid: UID
  let mark: AddedFiles.Mark

  /// How the sources of its files are removed; nil if they stay.
  public var removal: SourceRemoval? { batch.settings.after }

  /// For one `add`: pages that are admitted to the same value go into the same batch.
  /// - Parameter mark: ``LedgerReader/addedMark()`` before the first page.
  package init(_ batch: NewBatch, since mark: AddedFiles.Mark, wallMs: Int64) {
    self.batch = batch
    self.mark = mark
    uid = .make(wallMs: wallMs)
  }
}

/// The outcome of admitting the files of one page; counts are files.
public struct PageAdmission: Sendable, Hashable {
  /// nil if nothing had to be recorded and the batch does not exist.
  public var batch: BatchID?
  public var added = 0
  /// Of the added: those that supersede an older version.
  public var changed = 0
  public var unchanged = 0
  /// Of the unchanged: sent before by a batch that removes no sources, or kept for a reason, so that their sources stay
  /// although this `add` asks for removal.
  public var staying = 0
  /// The same file is already waiting, active or paused, in an earlier batch.
  public var queued = 0
  /// Had failed with the same identity; they are retried in their earlier batch.
  public var requeued = 0
  /// The added, the queued, the requeued and the busy ones.
  package var files = SelectedFiles()
  /// Already recorded by the same `add`.
  public var repeated = 0
  public var failed = 0
  /// Of the failed: those without a new row.
  package var failedBefore = EarlierFailures()
  /// Of the added and the queued.
  public var settling = 0
  /// Of the added, in bytes.
  public var bytes: Int64 = 0
  /// Positions in the page: the outcome of the last upload is unknown.
  public var unknown: [Int] = []
  /// Were cancelled when the outcome of their last upload was unknown.
  package var uncertain: [UncertainFile] = []
  /// Positions in the page: an older version is being sent right now.
  public var busy: [Int] = []
  /// Positions in the page: the key is taken by something of another kind, a segment of a growing file or a whole file.
  public var taken: [Int] = []
  /// Would replace the objects of other files, which may be the only copies.
  package var onlyCopies: [OnlyCopy] = []
  /// Of the changed: those that replace the object of a file with another path.
  package var replacedOthers = 0
  /// Of the changed: those whose source may be unchanged, while their object was lost or changed at the destination.
  package var resentLost = 0
  /// Of the added: those that may be files which were sent under other names.
  package var renamed: [RenamedSource] = []
  /// Undecided: only their content tells whether they are what was sent before. They must be admitted again with a
  /// ``ContentOutcome``.
  public var moved: [MovedFile] = []

  public init() {}
}

/// A source with a new key that has the inode, size and mtime of a done file with another path.
package struct RenamedSource: Sendable, Hashable {
  /// Position of the source in the page.
  package var index: Int
  package var file: FileID
  /// The source was renamed if nothing has this path any more.
  package var path: NameBytes
}

/// A source that would replace the object of a done file with another path, whose source was deleted or may have been.
package struct OnlyCopy: Sendable, Hashable {
  /// Position of the source in the page.
  package var index = 0
  package var file: FileID
  package var path: NameBytes
  /// The state of its removal: pending while it goes on or since its process was killed, not done if it was revoked
  /// then.
  package var removal: RemovalState
  /// Its path is that of the source, but leads to another folder by now.
  package var isSamePath = false
}

/// A folder that is reached through symbolic links.
package struct LinkedFolder: Sendable, Hashable {
  /// When the newest of the links was made or replaced, in milliseconds since 1970 UTC.
  package var linkedMs: Int64
  /// Of the folder.
  package var inode: UInt64

  package init(linkedMs: Int64, inode: UInt64) { (self.linkedMs, self.inode) = (linkedMs, inode) }
}

/// A file that was sent before, and whose ctime or device has changed since.
public struct MovedFile: Sendable, Hashable {
  /// Position in the page.
  public var index: Int
  /// The row that is done.
  public var file: FileID
  /// The identity with which it was last seen.
  package var identity: SourceIdentity
}

/// Whether a source has the content that was sent for a done row.
public enum ContentOutcome: Sendable, Hashable {
  case same(FileID)
  /// It does not, or that cannot be determined.
  case other(FileID)
}

/// A source whose last upload was cancelled when it may have arrived.
package struct UncertainFile: Sendable, Hashable {
  /// Position of the source in the page.
  package var index: Int
  package var file: FileID
}
