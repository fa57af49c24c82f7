public import TransferModel

/// Events: a row for one action on the files of one batch in one transaction, and the ranges of the IDs of those files.
/// An action that takes several transactions records one event in each; those after the first refer to it (`part_of`),
/// and lists show them as one.
extension LedgerTransaction {
  /// Records an action of a person or the engine. Part of the history: never changed. An event of a file also belongs
  /// to its batch.
  public func recordEvent(_ verb: String, batch: BatchID?, file: FileID?, detail: String) throws {
    if let file { return try recordEvent(verb, of: [file], detail: detail) }
    _ = try insertEvent(verb, batch, detail, partOf: nil)
  }

  /// Records an event without a batch. If it continues an earlier transaction, `partOf` is the event of that one.
  /// Returns its number.
  func recordEvent(_ verb: String, detail: String, partOf: Int64?) throws -> Int64 {
    try insertEvent(verb, nil, detail, partOf: partOf)
  }

  /// Records one event for each batch of these files.
  func recordEvent(_ verb: String, of files: [FileID], detail: String = "") throws {
    var ranges = EventRanges()
    for file in files.sorted() {
      let batch = try db.first("SELECT batch_id FROM file WHERE id = ?", .id(file)) { $0.id(0, BatchID.self) }
      if let batch { ranges.add(file, of: batch) }
    }
    try record(verb, ranges, detail)
  }

  /// Records one event for each batch of the chosen files that are in one of `states`.
  func recordChosen(_ verb: String, detail: String = "", in states: [FileState] = FileState.allCases) throws {
    var ranges = EventRanges()
    _ = try db.rows(
      """
      SELECT f.id, f.batch_id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id
      WHERE f.state IN (SELECT value FROM json_each(?)) ORDER BY c.id
      """, .text(try jsonText(states.map(\.rawValue)))
    ) { ranges.add($0.id(0), of: $0.id(1)) }
    try record(verb, ranges, detail)
  }

  /// Records one event for each batch. Within ``continuing(_:_:)`` it becomes part of the event of an earlier
  /// transaction.
  func record(_ verb: String, _ ranges: EventRanges, _ detail: String) throws {
    for (batch, files) in ranges.byBatch {
      let key = EventKey(verb: verb, batch: batch, detail: detail)
      let event = try insertEvent(verb, batch, detail, partOf: notes.begun?[key])
      if notes.begun?[key] == nil { notes.begun?[key] = event }
      for range in files {
        try db.run(
          "INSERT OR FAIL INTO event_range (event_id, first_file, last_file) VALUES (?, ?, ?)", .integer(event),
          .integer(range.lowerBound), .integer(range.upperBound))
      }
    }
  }

  /// Runs `body` as a continuation of earlier transactions: its events become parts of theirs. Returns the first events
  /// of all of them.
  func continuing<T>(_ begun: [EventKey: Int64], _ body: () throws -> T) throws -> (T, begun: [EventKey: Int64]) {
    notes.begun = begun
    defer { notes.begun = nil }
    return (try body(), notes.begun ?? begun)
  }

  private func insertEvent(_ verb: String, _ batch: BatchID?, _ detail: String, partOf: Int64?) throws -> Int64 {
    let event = try db.insert(
      "INSERT INTO event (at, verb, batch_id, part_of, detail) VALUES (?, ?, ?, ?, ?)", .int(wallMs), .text(verb),
      .id(batch), .int(partOf), .text(detail))
    logs(event: event)
    return event
  }
}

/// The properties shared by all events that are parts of one.
struct EventKey: Sendable, Hashable {
  let verb: String
  let batch: BatchID
  let detail: String
}

/// File IDs as ranges, by batch. They are added in ascending order.
struct EventRanges {
  /// The longest range. A range that contains a file begins at most this far below it, so it can be found through an
  /// index.
  static let longest: Int64 = 4096

  private(set) var byBatch: [(batch: BatchID, files: [ClosedRange<Int64>])] = []
  private var places: [BatchID: Int] = [:]

  mutating func add(_ file: FileID, of batch: BatchID) {
    let number = file.rawValue
    guard let place = places[batch] else {
      places[batch] = byBatch.count
      return byBatch.append((batch, [number...number]))
    }
    let end = byBatch[place].files.count - 1
    let last = byBatch[place].files[end]
    if last.upperBound == number - 1, last.count < Self.longest {
      byBatch[place].files[end] = last.lowerBound...number
    } else {
      byBatch[place].files.append(number...number)
    }
  }
}
