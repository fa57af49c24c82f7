public import TransferModel

/// Events: a row for what was done to the files of one batch in one transaction, and the ranges of numbers of those
/// files. What takes several transactions records one event in each, and those after the first name it (`part_of`):
/// lists show them as one.
extension LedgerTransaction {
  /// Records what people or the engine did. Part of the history: never changed. An event of a file is one of its batch.
  public func recordEvent(_ verb: String, batch: BatchID?, file: FileID?, detail: String) throws {
    if let file { return try recordEvent(verb, of: [file], detail: detail) }
    _ = try insertEvent(verb, batch, detail, partOf: nil)
  }

  /// Records what concerns no batch; one that goes on with an earlier transaction names its event. Returns its number.
  func recordEvent(_ verb: String, detail: String, partOf: Int64?) throws -> Int64 {
    try insertEvent(verb, nil, detail, partOf: partOf)
  }

  /// One event for each batch that these files are in.
  func recordEvent(_ verb: String, of files: [FileID], detail: String = "") throws {
    var ranges = EventRanges()
    for file in files.sorted() {
      let batch = try db.first("SELECT batch_id FROM file WHERE id = ?", .id(file)) { $0.id(0, BatchID.self) }
      if let batch { ranges.add(file, of: batch) }
    }
    try record(verb, ranges, detail)
  }

  /// One event for each batch that the chosen files are in which are in one of `states`.
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

  /// One event for each batch. Within ``continuing(_:_:)`` it goes on with the one of an earlier transaction.
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

  /// What `body` does goes on with what earlier transactions began: its events are parts of theirs. Returns all that
  /// were begun.
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

/// What the events have in common that are parts of one.
struct EventKey: Sendable, Hashable {
  let verb: String
  let batch: BatchID
  let detail: String
}

/// Numbers of files as ranges, by batch. They are added in ascending order.
struct EventRanges {
  /// The longest range. The ranges that hold a file begin at most so far below it, so that they are found through an
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
