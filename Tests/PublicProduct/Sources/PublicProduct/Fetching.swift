import Synchronization
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Downloads: planned, fetched with the figures of the engine, verified and repaired.
extension Trial {
  /// Fetches what `sendsWithProgress` has sent into `folder`.
  func fetches() async throws {
    let client = try await open()
    var options = DownloadOptions([.url("f1"), .url("f2"), .url("deep/large")], to: NameBytes(folder))
    options.baseURL = "\(url)/sent/"
    options.name = "fetched"
    options.segments = 2
    options.labels = ["kind": "copy"]
    try expect(try await client.plan(options).counts.added == 3, "three files are planned")

    let added = try await client.add(options)
    guard let batch = added.batch else { throw Unexpected(description: "nothing was recorded") }
    let figures = client.engineProgress()
    async let counted = figures.first { $0.filesTotal == 3 }
    let run = try await client.run(RunOptions(workers: 2))
    try expect(run.done == 3 && run.failed == 0, "three files are fetched: \(run)")
    try expect(await counted != nil, "the engine counted them")

    let chunks = try await client.chunks(.batch(batch))
    try expect(chunks.count >= 3 && chunks.allSatisfy { $0.state == "done" }, "chunks: \(chunks)")
    let attempts = try await client.attempts(.batch(batch))
    try expect(attempts.count >= chunks.count && attempts.contains { $0.httpStatus == 206 }, "requests: \(attempts)")
  }

  /// A local file that lost a byte is found, and fetched again.
  func verifies() async throws {
    let client = try await open()
    guard let batch = try await client.batch(named: "fetched") else { throw Unexpected(description: "no batch") }
    try expect(try await client.verify(.batch(batch)).intact == 3, "three files are intact")
    guard truncate("\(folder)/f2", 100) == 0 else { throw Unexpected(description: "cannot shorten f2") }

    let changed = Mutex<[FileID]>([])
    let result = try await client.verify(.batch(batch), repairs: true) { file, finding in
      if case .success(let found) = finding, found.outcome == .changed { changed.withLock { $0.append(file.id) } }
    }
    try expect(result.changed == 1 && result.requeued == 1, "one file has changed: \(result)")
    try expect(changed.withLock { $0.count } == 1, "and is named")
    try expect(try await client.run().done == 1, "it is fetched again")
    try expect(try await client.verify(RowFilter()).intact == 3, "three files are intact again")
    let shares = [1, 2].compactMap { FileShare($0, of: 2) }
    var files = 0
    for share in shares { files += try await client.verify(RowFilter(), share: share).files }
    try expect(files == 3, "two shares are all files")
  }
}
