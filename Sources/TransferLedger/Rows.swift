public import TransferModel

/// A batch to be recorded.
public struct NewBatch: Sendable {
  /// Unique in the ledger if given; makes recording the batch idempotent.
  public var name: String?
  public var settings: BatchSettings
  /// `s3`, `put`, …
  public var protocolName: String
  /// For display: the destination without secrets.
  public var destination: String
  /// The canonical place that keys belong to, without secrets: two batches for the same place share their keys, and so
  /// see each other's files. nil uses the destination and the endpoint.
  public var place: String?
  /// Where the objects are that its uploads replace.
  package var objects: ObjectPlace?
  public var labels: [String: String]
  public var priority: Int
  /// The configured job that creates it.
  public var job: String?

  public init(
    name: String? = nil, settings: BatchSettings, protocolName: String, destination: String, place: String? = nil,
    labels: [String: String] = [:], priority: Int = 0, job: String? = nil
  ) {
    self.job = job
    self.place = place
    self.name = name
    self.settings = settings
    self.protocolName = protocolName
    self.destination = destination
    self.labels = labels
    self.priority = priority
  }
}

extension NewBatch {
  var canonicalPlace: String { place ?? server }

  /// The server, with its scheme. Two servers may have different files at the same path.
  var server: String {
    guard case .text(let endpoint)? = settings.options["endpoint-url"] else { return destination }
    return "\(destination) at \(endpoint)"
  }
}

/// A source file to be recorded.
public struct NewFile: Sendable {
  /// Absolute path of the source.
  public var path: NameBytes
  /// The complete remote key, as it is passed to the protocol.
  public var key: NameBytes
  package var identity: SourceIdentity
  /// Unix mode, for the record.
  public var mode: UInt32
  /// Properties that rules set for its object.
  package var properties: ObjectProperties
  /// It was compared with a list or a plan: no other version of the source may be sent in its place.
  package var isCompared = false
  /// How much of the path, in bytes, may lead through symbolic links when it is opened; nil for all of it but the last
  /// component.
  package var root: Int?

  package init(
    path: NameBytes, key: NameBytes, identity: SourceIdentity, mode: UInt32 = 0,
    properties: ObjectProperties = ObjectProperties(), isCompared: Bool = false, root: Int? = nil
  ) {
    self.root = root
    self.path = path
    self.key = key
    self.identity = identity
    self.mode = mode
    self.properties = properties
    self.isCompared = isCompared
  }
}

/// The outcome of admission for one file.
package enum Admission: Sendable, Hashable {
  /// A new row; `superseded` is the older generation that it replaces.
  case added(FileID, superseded: FileID?)
  /// Already done with the same identity: nothing to do.
  case unchanged(FileID)
  /// The same file for the same place is already waiting, active or paused, in an earlier batch.
  case queued(FileID)
  /// It had failed with the same identity, and is retried as it was recorded.
  case requeued(FileID)
  /// Already recorded by the same `add`.
  case repeated(FileID)
  /// Its outcome is unknown; it is not sent again without `retry`.
  case unknown(FileID)
  /// Was cancelled when its outcome was unknown; it is not sent again without `retry`.
  case uncertain(FileID)
  /// A file with other content is being sent to this place right now; push again when it is finished.
  case busy(FileID)
  /// Its key is that of a segment of a growing file, which nothing else may replace.
  case taken
  /// Its key is that of this done file of another path, whose source was deleted or may have been: it would replace the
  /// only copy.
  case onlyCopy(OnlyCopy)
  /// Done, and last seen with this identity, which differs in ctime or device: its content decides.
  case moved(FileID, SourceIdentity)
}

/// An earlier generation of a file that may have delivered the same version: the answer to a request was lost that must
/// not be repeated.
package struct EarlierDelivery: Sendable, Hashable {
  package var file: FileID
  /// Another version may have been stored since.
  package var isFollowed: Bool
}

/// A file that this engine run now owns.
public struct ClaimedFile: Sendable {
  public var id: FileID
  package var uid: UID
  /// The copied ledger that made the partial file of a download; nil for the original.
  package var partialOf: UID?
  public var batch: BatchID
  public var generation: Int
  public var path: NameBytes
  public var key: NameBytes
  /// The identity of the local file: for an upload, of its source as last seen. For a download, inode, device and boot
  /// of the partial file and the size of the remote object, each 0 until it is known.
  package var identity: SourceIdentity
  public var direction = Direction.upload
  /// Size and digests that the content of a download must have; the size of a compared upload (``isCompared``).
  public var expected = ExpectedContent()
  /// Properties that rules set for the object of an upload.
  package var properties = ObjectProperties()
  /// How much of the path of an upload may lead through symbolic links (``NewFile/root``).
  public var root: Int?
  /// Attempts in a row without progress.
  public var failures: Int
  /// nil until it has a layout.
  package var layout: ChunkLayout?
  /// The live session (`intended` or `open`).
  public var session: ClaimedSession?
  /// The number of its done chunks.
  public var doneChunks: Int
  /// The sum of their lengths.
  public var doneBytes: Int64
  /// Where the bytes that were sent of its chunks in the live session end, as offsets in the file, by their numbers.
  package var sentEnds: [Int: Int64] = [:]
  /// The server lost a chunk that it had acknowledged.
  public var hasLosses = false
  /// When its waiting chunks may be sent again, in milliseconds since 1970 UTC; 0 if that time has come.
  public var waitingUntil: [Int64] = []
  /// The newest operation of an attempt that ended `crashed`, `interrupted` or `retry` after its request may have
  /// arrived, with no `ok` attempt of that operation since.
  package var lostAnswer: AttemptOperation?
  /// Name of the staged copy that is sent instead of the source.
  public var staged: String?
  /// The ledger is a copy, and its original may have sent the file since.
  public var isDoubtful = false
  /// SHA-256 of the source that a receipt of the same unchanged file has, if the batch records it.
  package var sha256: Digest?
  package var earlierDelivery: EarlierDelivery?
  /// Another file has become its object since it was recorded, by another name of the destination, and that is the only
  /// copy.
  package var onlyCopy: OnlyCopy?
  /// For a download: the earlier one that wrote the file at its path, from the same URL.
  package var past: PastDownload?
  /// For a download: the newest version that an earlier generation had, or this one in an earlier session.
  package var earlierVersion: SessionFacts?

  /// An upload that was compared with a list or a plan: if its source changes, it fails, and no next version is sent.
  package var isCompared: Bool { direction == .upload && !expected.isEmpty }

  /// A completely fetched download.
  public var isFetched: Bool { direction == .download && layout.map { $0.count == doneChunks } ?? false }

  package init(
    id: FileID, uid: UID, batch: BatchID, generation: Int, path: NameBytes, key: NameBytes, identity: SourceIdentity,
    failures: Int, layout: ChunkLayout?, session: ClaimedSession?, doneChunks: Int,
    doneBytes: Int64 = 0, lostAnswer: AttemptOperation?, staged: String? = nil
  ) {
    self.staged = staged
    self.id = id
    self.uid = uid
    self.batch = batch
    self.generation = generation
    self.path = path
    self.key = key
    self.identity = identity
    self.failures = failures
    self.layout = layout
    self.session = session
    self.doneChunks = doneChunks
    self.doneBytes = doneBytes
    self.lostAnswer = lostAnswer
  }
}

/// The live session of a file, with its number in the ledger.
public struct ClaimedSession: Sendable, Hashable {
  package var id: SessionID
  package var facts: SessionFacts

  package init(id: SessionID, _ facts: SessionFacts) {
    self.id = id
    self.facts = facts
  }
}

/// A chunk that is `in_flight` with an open attempt of this run.
public struct ClaimedChunk: Sendable, Hashable {
  public var id: ChunkID
  public var attempt: AttemptID
  /// The operation of the attempt: `part`, or one that must precede it.
  package var operation: AttemptOperation
  package var facts: ChunkFacts

  package init(id: ChunkID, attempt: AttemptID, operation: AttemptOperation = .part, _ facts: ChunkFacts) {
    self.id = id
    self.attempt = attempt
    self.operation = operation
    self.facts = facts
  }
}
