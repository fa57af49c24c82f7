import Transfers

/// Verbs about files that have ended, and reports over several stores.
extension Trial {
  /// The answer to a form was lost although it was stored: only a person knows what became of the file.
  func decides() async throws {
    let client = try await open()
    let settings = BatchSettings(destination: "form+\(url)/-/form/")
    let added = try await client.add(["\(source)/f1"], UploadOptions(settings: settings, name: "form"))
    guard let batch = added.batch else { throw Unexpected(description: "nothing was recorded") }
    try expect(try await client.run().unknown == 1, "the answer was lost")
    let verb = ControlVerb.resolve(.done, reason: "looked at the server")
    let foreseen = try await client.outcome(of: verb, .batch(batch))
    try expect(try await client.status(of: .batch(batch)).totals.count(.unknown) == 1, "a forecast changes nothing")
    let decided = try await client.resolve(.batch(batch), as: .done, reason: "looked at the server")
    try expect(decided.changed == foreseen.changed && decided.changed.count == 1, "one file is resolved: \(decided)")
    try expect(try await client.status(of: .batch(batch)).totals.count(.done) == 1, "it is done")

    try expect(try await client.clean(.batch(batch)).changed.count == 1, "it is hidden")
    try expect(try await isHidden(batch, client), "it is left out of lists of what is not hidden")
    try expect(try await client.files(.batch(batch)).count == 1, "and in all others")
  }

  /// Files that are removed before they were sent.
  func removes() async throws {
    let client = try await open()
    let settings = BatchSettings(destination: "\(url)/never/")
    let added = try await client.add([source], UploadOptions(settings: settings))
    guard let batch = added.batch else { throw Unexpected(description: "nothing was recorded") }
    try expect(try await client.remove(.batch(batch)).changed.count == added.counts.added, "all are removed")
    try expect(try await client.run().done == 0, "nothing is sent")
    try expect(try await isHidden(batch, client), "they are hidden")
  }

  private func isHidden(_ batch: BatchID, _ client: TransferClient) async throws -> Bool {
    var filter = RowFilter.batch(batch)
    filter.leavesOutHidden = true
    return try await client.files(filter).isEmpty
  }

  /// This store and a second one become one for reports.
  func merges() async throws {
    let (second, merged) = ("\(store).second", "\(store).merged")
    let other = try await TransferClient.open(second)
    let settings = BatchSettings(destination: "\(url)/never/")
    _ = try await other.add([source], UploadOptions(settings: settings))
    let shards = try await TransferClient.merge([store, second], into: merged)
    try expect(shards.map(\.outcome) == [.merged, .merged], "both are merged: \(shards)")
    try expect(try await TransferClient.merge([store], into: merged)[0].outcome == .unchanged, "nothing is new")
  }

  /// A reader that begins at the newest event is told only what happens afterwards.
  func followsNewEvents() async throws {
    let client = try await open()
    let cursor = try await client.newestCursor()
    try expect(try await client.recordedEvents(after: cursor).isEmpty, "nothing has happened yet")
    let settings = BatchSettings(destination: "\(url)/never/again/")
    let added = try await client.add(["\(source)/empty"], UploadOptions(settings: settings))
    guard let batch = added.batch else { throw Unexpected(description: "nothing was recorded") }
    try await client.remove(.batch(batch))
    let events = try await client.recordedEvents(of: .batch(batch), after: cursor)
    try expect(!events.isEmpty, "the new batch has events")
    try expect(try await client.newestCursor() != cursor, "and there is a newer one")
  }
}
