public import TransferModel

/// Something that was recorded.
public enum RecordedEvent: Sendable, Hashable {
  /// What people or the engine did.
  case event(EventRow)
  /// A request that has ended.
  case attempt(FollowedAttempt)

  /// Milliseconds since 1970 UTC.
  public var atMs: Int64 {
    switch self {
    case .event(let event): event.atMs
    case .attempt(let followed): followed.attempt.endedMs ?? followed.attempt.startedMs
    }
  }
}

/// A place in the history of one store: everything before it was told. It can be stored and used by another process.
public struct EventCursor: Sendable, Hashable, Codable {
  /// The numbers of the newest event and attempt that were looked at.
  package internal(set) var event: Int64
  package internal(set) var attempt: Int64
  /// Attempts below that which had not ended yet.
  package internal(set) var open: Set<Int64>

  /// Before everything that is recorded.
  public static let beginning = EventCursor(event: 0, attempt: 0, open: [])
}

/// What is new behind a cursor, in one snapshot, at most 500 events and 500 attempts, and those that were known to be
/// open.
package struct EventPage: Sendable {
  /// Each with the cursor behind it. Events come first, each kind by number.
  package private(set) var rows: [(row: RecordedEvent, cursor: EventCursor)] = []
  /// Behind all of it, and behind what the filter leaves out.
  package private(set) var end: EventCursor
  /// Nothing more is there.
  package let isLast: Bool
  static let size = 500

  /// Of a reader that begins here.
  init(end: EventCursor) { (self.end, isLast) = (end, true) }

  package init(_ reader: StoreReader, _ filter: RowFilter, after cursor: EventCursor) throws {
    let newest = try reader.newestNumbers()
    let events = try reader.eventParts(filter, after: cursor.event, limit: Self.size)
    let known = cursor.open.map { AttemptID(rawValue: $0) }
    let ended = try reader.endedAttempts(filter, after: 0, among: known)
    let attempts = try reader.endedAttempts(filter, after: cursor.attempt, limit: Self.size)
    let open = Set(try reader.openAttempts(filter).map(\.rawValue))
    end = cursor
    isLast = events.count < Self.size && attempts.count < Self.size
    for event in events {
      end.event = event.id
      rows.append((.event(event), end))
    }
    // What is neither open nor among the ended is of no selected file any more.
    end.open.formIntersection(open.union(ended.map(\.attempt.id.rawValue)))
    for attempt in ended {
      end.open.remove(attempt.attempt.id.rawValue)
      rows.append((.attempt(attempt), end))
    }
    for attempt in attempts {
      pass(attempt.attempt.id.rawValue, open)
      rows.append((.attempt(attempt), end))
    }
    // A page that is not full was read to the end; rows that the filter leaves out are not read again.
    if events.count < Self.size { end.event = newest.event }
    if attempts.count < Self.size { pass(newest.attempt, open) }
  }

  /// Moves the end behind this attempt; those before it that are open are still to come.
  private mutating func pass(_ attempt: Int64, _ open: Set<Int64>) {
    end.open.formUnion(open.filter { $0 > end.attempt && $0 <= attempt })
    end.attempt = max(end.attempt, attempt)
  }
}

extension StoreReader {
  /// Behind everything that is recorded now.
  package func newestCursor(_ filter: RowFilter) throws -> EventCursor {
    let newest = try newestNumbers()
    return EventCursor(
      event: newest.event, attempt: newest.attempt, open: Set(try openAttempts(filter).map(\.rawValue)))
  }
}
