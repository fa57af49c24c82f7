public import TransferModel

/// An event or an ended attempt in the store.
public enum RecordedEvent: Sendable, Hashable {
  /// An action of a person or of the engine.
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

/// A position in the history of one store: everything before it was reported. It can be stored, and used by another
/// process.
public struct EventCursor: Sendable, Hashable, Codable {
  /// The numbers of the newest event and attempt that were read, of one part of the store.
  struct Place: Sendable, Hashable, Codable {
    var event: Int64 = 0
    var attempt: Int64 = 0
  }

  /// By part (``NewestNumbers``): a merged ledger has several, each with numbers that follow the time.
  var places: [Int64: Place] = [:]
  /// Attempts with lower numbers that had not ended yet.
  var open: Set<Int64> = []

  /// Before everything that is recorded.
  public static let beginning = EventCursor()
}

/// New events and attempts after a cursor, in one snapshot: at most 500 events and 500 attempts of each part of the
/// store, and the attempts that were known to be open.
package struct EventPage: Sendable {
  /// Each with the cursor after it. Events come first; each kind is sorted by number.
  package private(set) var rows: [(row: RecordedEvent, cursor: EventCursor)] = []
  /// The cursor after all of them, including those that the filter leaves out.
  package private(set) var end: EventCursor
  /// Whether there are no more.
  package private(set) var isLast = true
  static let size = 500

  /// An empty page, for a reader that begins here.
  init(end: EventCursor) { self.end = end }

  package init(_ reader: StoreReader, _ filter: RowFilter, after cursor: EventCursor) throws {
    let parts = try reader.newestNumbersOfParts()
    let known = cursor.open.map { AttemptID(rawValue: $0) }
    let ended = try reader.endedAttempts(filter, after: 0, among: known)
    let open = Set(try reader.openAttempts(filter).map(\.rawValue))
    end = cursor
    // An attempt that is neither open nor among the ended ones no longer belongs to a selected file.
    end.open.formIntersection(open.union(ended.map(\.attempt.id.rawValue)))
    for part in parts { try addEvents(reader, filter, of: part) }
    for attempt in ended {
      end.open.remove(attempt.attempt.id.rawValue)
      rows.append((.attempt(attempt), end))
    }
    for part in parts { try addAttempts(reader, filter, of: part, open) }
  }

  // An incomplete page was read to the end: rows that the filter leaves out are not read again.

  private mutating func addEvents(_ reader: StoreReader, _ filter: RowFilter, of part: NewestNumbers) throws {
    var place = end.places[part.part] ?? part.beginning
    let events = try reader.eventParts(filter, after: place.event, before: part.before, limit: Self.size)
    for event in events {
      place.event = event.id
      end.places[part.part] = place
      rows.append((.event(event), end))
    }
    if events.count < Self.size { place.event = part.event } else { isLast = false }
    end.places[part.part] = place
  }

  private mutating func addAttempts(
    _ reader: StoreReader, _ filter: RowFilter, of part: NewestNumbers, _ open: Set<Int64>
  ) throws {
    let after = (end.places[part.part] ?? part.beginning).attempt
    let attempts = try reader.endedAttempts(filter, after: after, before: part.before, limit: Self.size)
    for attempt in attempts {
      pass(attempt.attempt.id.rawValue, part, open)
      rows.append((.attempt(attempt), end))
    }
    if attempts.count < Self.size { pass(part.attempt, part, open) } else { isLast = false }
  }

  /// Moves the end past this attempt; open attempts before it are still to be reported.
  private mutating func pass(_ attempt: Int64, _ part: NewestNumbers, _ open: Set<Int64>) {
    var place = end.places[part.part] ?? part.beginning
    end.open.formUnion(open.filter { $0 > place.attempt && $0 <= attempt })
    place.attempt = max(place.attempt, attempt)
    end.places[part.part] = place
  }
}

extension NewestNumbers {
  fileprivate var beginning: EventCursor.Place { EventCursor.Place(event: after, attempt: after) }
}

extension StoreReader {
  /// The cursor after everything that is recorded now.
  package func newestCursor(_ filter: RowFilter) throws -> EventCursor {
    var cursor = EventCursor(open: Set(try openAttempts(filter).map(\.rawValue)))
    for part in try newestNumbersOfParts() {
      cursor.places[part.part] = EventCursor.Place(event: part.event, attempt: part.attempt)
    }
    return cursor
  }
}
