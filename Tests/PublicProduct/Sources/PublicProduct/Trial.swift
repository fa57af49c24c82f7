import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A check failed.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
}

func expect(_ isSo: Bool, _ what: String) throws {
  guard isSo else { throw Unexpected(description: what) }
}

/// Supplies tokens. The first one is stale, like a token that was kept too long.
actor TokenShop {
  private let valid: String
  private(set) var asked: [CredentialRequest.Reason] = []

  init(valid: String) { self.valid = valid }

  func token(for reason: CredentialRequest.Reason) -> String {
    asked.append(reason)
    return reason == .first ? "stale" : valid
  }
}

/// What a program does with the library, step by step on one store.
struct Trial {
  let store: String
  let source: String
  let url: String
  /// The folder for downloads.
  let folder: String
  let tokens: TokenShop

  func sendsWithProgress() async throws {
    let (store, source, destination, tokens) = (store, source, "\(url)/sent/", tokens)

    // example: begin
    let client = try await TransferClient.open(store) { request in
      .bearer(token: await tokens.token(for: request.reason))
    }
    let options = UploadOptions(settings: BatchSettings(destination: destination), labels: ["kind": "report"])
    let plan = try await client.plan([source], options)
    print("to be sent: \(plan.counts.added) files, \(plan.counts.bytes) bytes")

    let added = try await client.add([source], options)
    guard let batch = added.batch else { return print("everything is there already") }
    async let run = client.run()
    for try await state in client.progress(of: .batch(batch)) {
      print("\(state.totals.count(.done)) of \(state.totals.files) files are done")
    }
    let result = try await run
    print("\(result.done) done, \(result.failed) failed, \(result.unknown) unknown")
    // example: end

    try expect(result.done == plan.counts.added && result.done > 1, "every planned file is done")
    let again = try await client.add([source], options)
    try expect(again.batch == nil && again.counts.unchanged == result.done, "adding the same again records nothing")
    let asked = await tokens.asked
    try expect(asked == [.first, .refused], "the hook was asked \(asked)")
  }

  func controls() async throws {
    let client = try await open()
    let settings = BatchSettings(destination: "\(url)/controlled/")
    let added = try await client.add([source], UploadOptions(settings: settings, name: "controlled"))
    guard let batch = added.batch else { throw Unexpected(description: "another destination, but no new batch") }
    let paused = try await client.pause(.batch(batch))
    try expect(paused.changed.count == added.counts.added, "all files are paused")

    let stop = StopSignal()
    async let run = client.run(until: .stopped, stop: stop)
    try expect(try await client.wait(for: .batch(batch)).state.totals.count(.paused) > 0, "paused files are settled")
    let files = try await client.files(.batch(batch))
    try await client.cancel(.files([files[0].id]))
    var change = BatchChange()
    change.priority = 7
    change.labels = ["lane": "fast"]
    try expect(try await client.set(.batch(batch), change).changed == [batch], "the batch is changed")
    try await client.resume(.batch(batch))
    let end = try await client.wait(for: .batch(batch), until: .settled, timeout: .seconds(60))
    try expect(!end.isTimeout && end.state.totals.count(.done) == files.count - 1, "resumed files are done: \(end)")
    try await client.retry(.files([files[0].id]))
    let whole = try await client.wait(for: .batch(batch), timeout: .seconds(60))
    try expect(whole.state.totals.count(.done) == files.count, "retried files are done: \(whole)")
    stop.drain()
    try expect(try await run.done == files.count, "the run counts them")
    try expect(try await client.batch(named: "controlled") == batch, "a batch is found by its name")
  }

  func reports() async throws {
    let client = try await open()
    let status = try await client.status()
    try expect(!status.engine.isAlive && status.totals.left == 0, "nothing is left to be done")
    let batches = try await client.batches()
    try expect(batches.count == 2 && batches[1].labels == ["lane": "fast"], "two batches: \(batches)")
    var listed: [FileRow] = []
    while case let page = try await client.files(after: listed.last?.id, limit: 2), !page.isEmpty { listed += page }
    try expect(listed.count == status.totals.files, "the pages contain each file once")
    for file in listed {
      try expect(try await client.receipt(of: file.id) != nil, "\(file.id) has a receipt")
    }
    let totals = try await client.summary().totals
    try expect(totals.files == listed.count && totals.bytesAcked == totals.bytes, "the summary counts them")
    let failures = try await client.failures()
    try expect(failures.contains { $0.code == "auth.refused" || $0.code == "http.401" }, "the stale token: \(failures)")
    try expect(!(try await client.throughput().isEmpty), "something moved")
    try expect(try await client.check().isSound, "the store is sound")
  }

  /// Reads half of the events with one client, and the rest with another one that continues at the stored cursor.
  func continuesEvents() async throws {
    var (cursor, told, all) = (EventCursor.beginning, [RecordedEvent](), [RecordedEvent]())
    let first = try await open()
    while case let page = try await first.recordedEvents(after: cursor), let last = page.last {
      (all, cursor) = (all + page.map(\.recorded), last.cursor)
    }
    cursor = .beginning
    for try await event in first.events(after: cursor).prefix(all.count / 2) {
      (cursor, told) = (event.cursor, told + [event.recorded])
    }
    let second = try await open()
    for try await event in second.events(after: cursor).prefix(all.count - told.count) { told.append(event.recorded) }
    try expect(told == all && all.count > 10, "\(told.count) of \(all.count) events")
  }

  func tellsErrorsByCode() async throws {
    do {
      _ = try await TransferClient.open("\(store).missing", mayCreate: false)
      throw Unexpected(description: "a missing store was opened")
    } catch let error as TransferError {
      try expect(error.kind == .storeMissing && error.kind.rawValue == "store.missing", "\(error)")
    }
    let client = try await open()
    do {
      _ = try await client.add(["\(source)/nowhere"], UploadOptions(settings: BatchSettings(destination: url)))
      throw Unexpected(description: "a missing source was added")
    } catch let error as TransferError {
      try expect(error.kind == .noSource, "\(error)")
    }
  }

  func open() async throws -> TransferClient {
    try await TransferClient.open(store) { [tokens] request in .bearer(token: await tokens.token(for: request.reason)) }
  }
}
