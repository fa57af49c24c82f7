import TransferLedger
import TransferModel

/// A clock that stands still until it is advanced.
final class StillClock: TransferClock {
  private let now: Lock<Int64>
  init(_ wallMs: Int64) { now = Lock(wallMs) }
  var wallMs: Int64 { now.withLock { $0 } }
  var bootMs: Int64 { wallMs }
  func advance(ms: Int64) { now.withLock { $0 += ms } }
}

/// A small ledger with one file of each outcome, made with the transitions that the engine uses:
///
/// - f1 done, with two parts, the first after one retry
/// - f2 failed with `http.413`; its name is not UTF-8
/// - f3 unknown
/// - f4 failed at admission with `source.denied`; its source was never read
/// - f5 pending, in a second batch; its name is hostile
struct FilledLedger {
  let path: String
  private let ledger: Ledger
  /// 2025-11-20T10:00:00.000Z
  private let clock = StillClock(1_763_632_800_000)
  private let run: RunID

  init(in folder: TemporaryFolder) throws {
    path = folder.path + "/ledger.db"
    ledger = try Ledger.open(at: path, mode: .create, clock: clock)
    run = try ledger.startRun(
      NewRun(argv: ["push", "/data"], version: "0.1.0", host: "host.example", bootID: "boot", pid: 4711))
    let first = try admit()
    try upload(first[0])
    try fail(first[1])
    try lose(first[2])
    try end()
    ledger.close()
  }

  private func admit() throws -> [FileID] {
    let settings = BatchSettings(destination: "s3://bucket/p/")
    let first = NewBatch(
      name: "nightly", settings: settings, protocolName: "s3", destination: "s3://bucket/p/",
      labels: ["run": "42", "lane": "1"])
    var page = AdmissionPage()
    let sources: [(path: [UInt8], size: Int64)] = [
      (Array("/data/a.bin".utf8), 10 << 20), (Array("/data/b".utf8) + [0xFF], 5), (Array("/data/日本.txt".utf8), 3),
    ]
    for source in sources {
      Self.append(source.path, Array("p/".utf8) + source.path.dropFirst(6), source.size, to: &page)
    }
    page.append(
      path: NameBytes("/data/secret"), key: NameBytes("p/secret"), Failure(.sourceDenied, "open: permission denied"))
    try admit(page, to: first)
    var other = AdmissionPage()
    Self.append(Array("/data/x\u{1B}[2J\ny".utf8), Array("q/x".utf8), 1 << 30, to: &other)
    let elsewhere = BatchSettings(destination: "s3://bucket/q/")
    try admit(other, to: NewBatch(settings: elsewhere, protocolName: "s3", destination: "s3://bucket/q/"))
    return (1...3).map { FileID(rawValue: $0) }
  }

  private func admit(_ page: AdmissionPage, to batch: NewBatch) throws {
    let target = AdmissionTarget(batch, since: try ledger.read { try $0.addedMark() }, wallMs: clock.wallMs)
    _ = try ledger.write { try $0.admit(page, to: target) }
  }

  private static func append(_ path: [UInt8], _ key: [UInt8], _ size: Int64, to page: inout AdmissionPage) {
    path.withUnsafeBytes { path in
      key.withUnsafeBytes { page.append(path: path, key: $0, identity(size), mode: 0o644) }
    }
  }

  private static func identity(_ size: Int64) -> SourceIdentity {
    SourceIdentity(size: size, mtimeNs: 1, ctimeNs: 1, inode: 7, device: 8)
  }

  /// Uploads two parts, of 8 MiB and 2 MiB; the first is answered with 503 once.
  private func upload(_ file: FileID) throws {
    let run = run
    let session = try ledger.write { tx in
      _ = try tx.claimFiles(run, limit: 1)
      _ = try tx.plan(file, run, ChunkLayout(size: 10 << 20, chunkSize: 8 << 20))
      return try tx.intendSession(file, run)
    }
    let create = try ledger.write { tx in
      try tx.beginAttempt(file, run, .create, session: session, isRepeatable: true)
    }
    try close(create, .ok)
    _ = try ledger.write { tx in try tx.openSession(session, run, remoteID: "upload-1", expiresAtMs: nil) }
    try parts(file)
    _ = try ledger.write { tx in try tx.startFinishing(file, run) }
    let finish = try ledger.write { tx in
      try tx.beginAttempt(file, run, .finish, session: session, isRepeatable: true)
    }
    try close(finish, .ok)
    let proof = FileProof(
      confirmation: .digest, digest: Digest(crc64nvme: 0x1234), remoteDigest: Digest(crc64nvme: 0x1234),
      etag: "\"e-2\"", requestID: "R1", serverDate: "Thu, 20 Nov 2025 10:00:05 GMT")
    let receipt = FileReceipt(proof, location: "s3://bucket/p/a.bin")
    _ = try ledger.write { tx in try tx.completeFile(file, run, receipt) }
    _ = try ledger.write { tx in try tx.endSession(session, .completed) }
  }

  private func parts(_ file: FileID) throws {
    let run = run
    let chunks = try ledger.write { tx in try tx.beginChunks(file, run, limit: 2, isRepeatable: true) }
    var slow = AttemptResult(outcome: .retry, code: .http503, message: "slow down")
    (slow.httpStatus, slow.bytesTransferred, slow.mayHaveArrived) = (503, 4 << 20, true)
    try close(chunks[0].attempt, slow)
    let due = clock.wallMs
    _ = try ledger.write { tx in try tx.retryChunk(chunks[0].id, chunks[0].attempt, notBeforeMs: due) }
    try store(chunks[1])
    clock.advance(ms: 1000)
    for chunk in try ledger.write({ tx in try tx.beginChunks(file, run, limit: 2, isRepeatable: true) }) {
      try store(chunk)
    }
  }

  private func store(_ chunk: ClaimedChunk) throws {
    var result = AttemptResult(outcome: .ok)
    (result.httpStatus, result.bytesTransferred, result.bytesAcked) = (
      200, chunk.facts.range.length, chunk.facts.range.length
    )
    (result.remoteIP, result.requestID) = ("192.0.2.7", "R0")
    result.timing.totalMs = 250
    try close(chunk.attempt, result)
    let part = PartReceipt(
      seq: chunk.facts.seq, length: chunk.facts.range.length, etag: "\"e\"",
      digest: Digest(crc64nvme: UInt64(chunk.facts.seq)), confirmation: .digest)
    _ = try ledger.write { tx in try tx.storeChunk(chunk.id, chunk.attempt, part) }
  }

  private func fail(_ file: FileID) throws {
    let run = run
    let chunk = try claim(file, size: 5)
    var result = AttemptResult(outcome: .fatal, code: .http413, message: "payload too large")
    (result.httpStatus, result.bytesTransferred) = (413, 5)
    try close(chunk.attempt, result)
    _ = try ledger.write { tx in
      _ = try tx.failChunk(chunk.id, chunk.attempt)
      return try tx.failFile(file, run, code: .http413, message: "payload too large", keepsSession: false)
    }
  }

  private func lose(_ file: FileID) throws {
    let run = run
    let chunk = try claim(file, size: 3)
    var result = AttemptResult(outcome: .unknown, code: .protoLostAnswer, message: "connection closed")
    (result.bytesTransferred, result.mayHaveArrived) = (3, true)
    try close(chunk.attempt, result)
    _ = try ledger.write { tx in
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      return try tx.markUnknown(file, run, code: .protoLostAnswer, message: "connection closed")
    }
  }

  private func claim(_ file: FileID, size: Int64) throws -> ClaimedChunk {
    let run = run
    return try ledger.write { tx in
      _ = try tx.claimFiles(run, limit: 1)
      _ = try tx.plan(file, run, ChunkLayout(whole: size))
      return try tx.beginChunks(file, run, limit: 1, isRepeatable: false)[0]
    }
  }

  private func close(_ attempt: AttemptID, _ outcome: AttemptOutcome) throws {
    try close(attempt, AttemptResult(outcome: outcome))
  }

  /// Closes the attempt half a second after the previous step.
  private func close(_ attempt: AttemptID, _ result: AttemptResult) throws {
    let run = run
    clock.advance(ms: 500)
    _ = try ledger.write { tx in try tx.closeAttempt(attempt, run, result) }
  }

  private func end() throws {
    let run = run
    _ = try ledger.write { tx in try tx.endRun(run, how: "done") }
  }
}
