import Glibc
import TransferLedger
import TransferModel

/// Drives the ledger without engine, network or files, for `tools/bench`. Prints lines of a name and a number.
///
/// - `ledger-bench PATH fill PENDING WAITING`: makes a ledger with so many files that are ready and in backoff.
/// - `ledger-bench PATH cycle FILES PER-COMMIT`: claims, plans, begins and completes files, so many a commit.
/// - `ledger-bench PATH cycle-without-log FILES PER-COMMIT`: the same without leaves in the log.
/// - `ledger-bench PATH claim TIMES LIMIT`: claims so many files at once, and releases them.
@main
struct LedgerBench {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    let numbers = words.dropFirst(2).compactMap { Int($0) }
    guard words.count == 4, numbers.count == 2 else {
      stop("PATH fill|cycle|cycle-without-log|claim NUMBER NUMBER", code: 64)
    }
    do {
      let bench = try LedgerBench(path: words[0])
      defer { bench.ledger.close() }
      switch words[1] {
      case "fill": try bench.fill(pending: numbers[0], waiting: numbers[1])
      case "cycle", "cycle-without-log":
        try bench.cycle(files: numbers[0], perCommit: numbers[1], logs: words[1] == "cycle")
      case "claim": try bench.claim(times: numbers[0], limit: numbers[1])
      default: stop("no \"\(words[1])\"", code: 64)
      }
    } catch {
      stop("\(error)", code: 70)
    }
  }

  private let ledger: Ledger

  private init(path: String) throws {
    ledger = try Ledger.open(at: path, mode: .create, clock: Clock())
  }

  private func startRun() throws -> RunID {
    try ledger.startRun(NewRun(argv: ["ledger-bench"], version: "0", host: "here", bootID: "b", pid: getpid()))
  }

  // MARK: - fill

  private func fill(pending: Int, waiting: Int) throws {
    let batch = NewBatch(
      settings: BatchSettings(destination: "http://there/in/"), protocolName: "put", destination: "http://there/in/")
    let target = AdmissionTarget(batch, since: try ledger.read { try $0.addedMark() }, wallMs: Clock().wallMs)
    let began = Moment()
    for start in stride(from: 0, to: pending + waiting, by: 1000) {
      let page = Self.page(start..<min(start + 1000, pending + waiting))
      _ = try ledger.write { tx in try tx.admit(page, to: target) }
    }
    began.tell("admitted_files", pending + waiting)
    try sendAway(waiting)
  }

  private static func page(_ numbers: Range<Int>) -> AdmissionPage {
    var page = AdmissionPage()
    for n in numbers {
      let identity = SourceIdentity(size: 16384, mtimeNs: 1, ctimeNs: 1, inode: UInt64(n), device: 3)
      Array("/srv/data/run-42/\(n / 1000)/file-\(n).bin".utf8).withUnsafeBytes { path in
        Array("\(n / 1000)/file-\(n).bin".utf8).withUnsafeBytes {
          page.append(path: path, key: $0, identity, mode: 0o100644)
        }
      }
    }
    return page
  }

  /// The first files of the ledger are in backoff, as after a server's "not now".
  private func sendAway(_ count: Int) throws {
    guard count > 0 else { return }
    let run = try startRun()
    for start in stride(from: 0, to: count, by: 1000) {
      try ledger.write { tx in
        for file in try tx.claimFiles(run, limit: min(1000, count - start)) {
          try Self.require(
            tx.releaseFile(
              file.id, run, notBeforeMs: tx.wallMs + 86_400_000, code: .http5xx, isFailure: true))
        }
      }
    }
    _ = try ledger.write { try $0.endRun(run, how: "done") }
  }

  // MARK: - cycle

  /// In the steady state one commit closes what the commit before began, and begins as much.
  private func cycle(files: Int, perCommit: Int, logs: Bool) throws {
    let run = try startRun()
    let began = Moment()
    var begun: [(FileID, ClaimedChunk)] = []
    var done = 0
    while done < files {
      let ended = begun
      begun = try ledger.write { tx in
        for (file, chunk) in ended { try Self.complete(tx, run, file, chunk) }
        if !logs { tx.leaveOutLeaves() }
        return try tx.claimFiles(run, limit: perCommit).map { file in
          try Self.require(tx.plan(file.id, run, ChunkLayout(whole: file.identity.size)))
          return (file.id, try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0])
        }
      }
      done += ended.count
      if begun.isEmpty { break }
    }
    began.tell("cycles", done)
  }

  private static func complete(_ tx: LedgerTransaction, _ run: RunID, _ file: FileID, _ chunk: ClaimedChunk) throws {
    let digest = Digest(.crc32c, [1, 2, 3, 4])
    var result = AttemptResult(outcome: .ok)
    result.httpStatus = 201
    result.bytesTransferred = 16384
    result.bytesAcked = 16384
    result.remoteIP = "127.0.0.1"
    result.httpVersion = "1.1"
    try require(tx.closeAttempt(chunk.attempt, run, result))
    try require(
      tx.storeChunk(
        chunk.id, chunk.attempt,
        PartReceipt(seq: 0, length: 16384, etag: "", digest: digest, confirmation: .none)))
    try require(
      tx.completeFile(
        file, run,
        FileReceipt(FileProof(confirmation: .none, digest: digest), location: "http://there/in/x")))
  }

  // MARK: - claim

  /// CPU time of the claim itself, on the writer's thread, without the commit.
  private func claim(times: Int, limit: Int) throws {
    let run = try startRun()
    var micros: [Double] = []
    for _ in 0..<times {
      let (files, spent) = try ledger.write { tx in
        let before = Moment.thread()
        let files = try tx.claimFiles(run, limit: limit).map(\.id)
        return (files, Moment.thread() - before)
      }
      micros.append(spent * 1e6)
      try ledger.write { tx in
        for file in files {
          try Self.require(tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false))
        }
      }
    }
    _ = try ledger.write { try $0.endRun(run, how: "done") }
    micros.sort()
    print("claim_us_median \(micros[times / 2])\nclaim_us_max \(micros[times - 1])")
  }

  private static func require(_ result: TransitionResult) throws {
    guard case .lost(let state) = result else { return }
    throw TransferError(.bug, "drive ledger", NameBytes(""), cause: "a transition met \(state ?? "nothing")")
  }

  private static func stop(_ text: String, code: Int32) -> Never {
    var bytes = Array("ledger-bench: \(text)\n".utf8)
    _ = write(2, &bytes, bytes.count)
    exit(code)
  }
}
