import CSQLite
import Glibc
import TransferModel
import TransferTestSupport

@testable import TransferLedger

/// A clock that tests set by hand.
final class HandClock: TransferClock {
  private let now = Lock<Int64>(1_700_000_000_000)
  var wallMs: Int64 { now.withLock { $0 } }
  var bootMs: Int64 { wallMs }
  func advance(ms: Int64) { now.withLock { $0 += ms } }
}

/// A folder with a ledger that is removed at the end.
final class LedgerFixture {
  let folder: String
  let clock = HandClock()
  var path: String { folder + "/transfers.db" }
  private(set) var ledger: Ledger

  init() throws {
    var template = Array("\(temporaryRoot)/ledger-test-XXXXXX".utf8CString)
    folder = String(cString: mkdtemp(&template)!)
    try writeBytes(try Self.blank.get(), to: folder + "/transfers.db")
    ledger = try Ledger.open(at: folder + "/transfers.db", mode: .existing, clock: clock)
  }

  /// The file of a new ledger. All migrations together cost far more than a test does: they run once, and each fixture
  /// starts with a copy that is not tied to the original file.
  private static let blank = Result { () throws -> [UInt8] in
    var template = Array("\(temporaryRoot)/ledger-blank-XXXXXX".utf8CString)
    let folder = String(cString: mkdtemp(&template)!)
    defer { removeTree(folder) }
    let path = folder + "/transfers.db"
    try Ledger.open(at: path, mode: .create, clock: HandClock()).close()
    let connection = try Connection(path: path, access: .readWrite)
    try connection.execute("UPDATE store_meta SET born_ns = NULL")
    guard try connection.checkpointTruncating() else { throw Surprise("the WAL is not empty") }
    return try fileBytes(path)
  }

  deinit {
    ledger.close()
    removeTree(folder)
  }

  /// Closes the ledger, which releases its locks as a crash would, runs `between`, and opens it again.
  func restart(_ between: () throws -> Void = {}) throws {
    ledger.close()
    try between()
    ledger = try Ledger.open(at: path, mode: .existing, clock: clock)
  }

  static let newRun = NewRun(argv: ["transfers", "run"], version: "0.1", host: "here", bootID: "b", pid: 7)

  func startRun() throws -> RunID { try ledger.startRun(Self.newRun) }

  func makeBatch(_ place: String = "put:there", name: String? = nil, priority: Int = 0) throws -> BatchID {
    let settings = BatchSettings(destination: place)
    return try ledger.write {
      try $0.createBatch(
        NewBatch(name: name, settings: settings, protocolName: "put", destination: place, priority: priority))
    }
  }

  static func source(_ name: String, size: Int64 = 10, version: Int64 = 1) -> NewFile {
    NewFile(
      path: NameBytes("/src/" + name), key: NameBytes(name),
      identity: SourceIdentity(size: size, mtimeNs: version, ctimeNs: version, inode: UInt64.max, device: 3))
  }

  /// The target of a new `add`.
  func target(_ place: String = "put:there", name: String? = nil) -> AdmissionTarget {
    let batch = NewBatch(
      name: name, settings: BatchSettings(destination: place), protocolName: "put", destination: place)
    let mark = try? ledger.read { try $0.addedMark() }
    return AdmissionTarget(batch, since: mark ?? .beginning, wallMs: clock.wallMs)
  }

  func page(_ names: [String]) -> AdmissionPage {
    var page = AdmissionPage()
    for name in names { page.append(Self.source(name)) }
    return page
  }

  func admit(_ name: String, size: Int64 = 10, version: Int64 = 1, to batch: BatchID) throws -> Admission {
    let file = Self.source(name, size: size, version: version)
    return try ledger.write { try $0.admit(file, to: batch) }
  }

  func add(_ name: String, size: Int64 = 10, to batch: BatchID) throws -> FileID {
    guard case .added(let id, _) = try admit(name, size: size, to: batch) else { throw Surprise(name) }
    return id
  }

  /// Records a download, claims it, and begins the request that opens its session.
  func beginDownload(_ run: RunID) throws -> (file: FileID, session: SessionID, attempt: AttemptID) {
    let settings = BatchSettings(destination: "get:there", download: DownloadSettings(folder: NameBytes("/in")))
    let batch = NewBatch(name: nil, settings: settings, protocolName: "get", destination: "get:there")
    let target = AdmissionTarget(batch, since: .beginning, wallMs: clock.wallMs)
    return try ledger.write { tx in
      _ = try tx.admitDownloads([NewDownload(path: NameBytes("/in/a"), key: NameBytes("p/a"))], to: target)
      guard let file = try tx.claimFiles(run, limit: 1).first?.id else { throw Surprise("a") }
      let session = try tx.intendSession(file, run)
      return (file, session, try tx.beginAttempt(file, run, .create, session: session, isRepeatable: true))
    }
  }

  /// Runs SQL as the `sqlite3` shell would: on another connection, restricted only by the schema.
  func shell(_ sql: String) throws { try Connection(path: path, access: .readWrite).execute(sql) }

  func texts(_ sql: String) throws -> [String] {
    try Connection(path: path, access: .readOnly).rowsOnce(sql) { row in
      (0..<sqlite3_column_count(row.statement)).map { row.textOrNil($0) ?? "-" }.joined(separator: " ")
    }
  }

  /// Appends leaves for rows that a test inserted without the named transitions, as a merge does.
  func logTheRest() throws {
    try ledger.write { tx in
      var known: Set<LogEntry> = []
      try LedgerReader(db: tx.db).forEachLogGroup { known.formUnion(LogEntry.all($0.entries) ?? []) }
      for id in try tx.db.rows("SELECT id FROM event", row: { $0.int64(0) }) where !known.contains(.event(id)) {
        tx.logs(event: id)
      }
      let attempts = try tx.db.rows("SELECT id FROM attempt WHERE outcome <> 'open'") { $0.id(0, AttemptID.self) }
      for id in attempts where !known.contains(.attempt(id.rawValue)) { tx.logs(id) }
      for (file, n) in try tx.db.rows("SELECT file_id, n FROM receipt", row: { ($0.id(0, FileID.self), $0.int64(1)) })
      where !known.contains(.receipt(file: file.rawValue, n: n)) { tx.logs(receipt: n, of: file) }
    }
  }

  func findings() throws -> [String] { try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } }
}

struct Surprise: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

func fileNames(in folder: String) throws -> [String] {
  guard let directory = opendir(folder) else { throw Surprise("opendir \(folder)") }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names.sorted()
}

func writeBytes(_ bytes: [UInt8], to path: String) throws {
  let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
  defer { close(file) }
  guard file >= 0, write(file, bytes, bytes.count) == bytes.count else { throw Surprise("write \(path): \(errno)") }
}

func fileBytes(_ path: String) throws -> [UInt8] {
  guard let file = fopen(path, "r") else { throw Surprise("open \(path)") }
  defer { fclose(file) }
  var out: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { out += buffer[..<count] }
  return out
}

let ok: AttemptResult = {
  var result = AttemptResult(outcome: .ok)
  result.httpStatus = 200
  return result
}()

func result(_ outcome: AttemptOutcome, mayHaveArrived: Bool = false) -> AttemptResult {
  var result = AttemptResult(outcome: outcome, code: .netReset, message: "cut")
  result.mayHaveArrived = mayHaveArrived
  return result
}

func acked(_ bytes: Int64) -> AttemptResult {
  var result = ok
  result.bytesTransferred = bytes
  result.bytesAcked = bytes
  return result
}

/// A receipt for any chunk; the chunk is named separately.
let part = PartReceipt(seq: 0, length: 0, etag: "\"e\"", digest: Digest(crc32c: 7), confirmation: .digest)
let proof = FileReceipt(
  FileProof(
    confirmation: .digest, digest: Digest(crc32c: 7), remoteDigest: Digest(crc32c: 7), etag: "\"e\"", requestID: "r1"),
  location: "put:there/a")

extension AdmissionPage {
  mutating func append(_ file: NewFile, path: String? = nil) {
    let path = path.map { NameBytes($0) } ?? file.path
    path.bytes.withUnsafeBytes { path in
      file.key.bytes.withUnsafeBytes { append(path: path, key: $0, file.identity, mode: file.mode) }
    }
  }
}

extension LedgerTransaction {
  /// Claims the first ready file and cuts it into chunks of `chunkSize`.
  func claimAndPlan(_ run: RunID, chunkSize: Int64 = 10) throws -> ClaimedFile {
    guard let file = try claimFiles(run, limit: 1).first else { throw Surprise("nothing ready") }
    if file.layout == nil { _ = try plan(file.id, run, ChunkLayout(size: file.identity.size, chunkSize: chunkSize)) }
    return file
  }

  func sendAll(_ file: FileID, _ run: RunID) throws {
    for chunk in try beginChunks(file, run, limit: .max, isRepeatable: true) {
      _ = try closeAttempt(chunk.attempt, run, acked(chunk.facts.range.length))
      _ = try storeChunk(chunk.id, chunk.attempt, part)
    }
  }
}

extension LedgerFixture {
  /// The verb, the number of files, and the first and last file of each event.
  func events(_ filter: RowFilter) throws -> [String] {
    try ledger.read { try $0.events(filter, after: 0, limit: 1_000) }.map { event in
      let ends = [event.firstFile, event.lastFile].map { $0?.description ?? "-" }
      return "\(event.verb) \(event.files) \(ends[0]) \(ends[1])"
    }
  }

  /// The details of a file's events with this verb.
  func events(of file: FileID, _ verb: String) throws -> [String] {
    try ledger.read { try $0.events(.files([file]), after: 0, limit: 1_000) }.filter { $0.verb == verb }.map(\.detail)
  }
}
