public import TransferModel

/// Something that was recorded, and the place behind it, from which another reader goes on.
public struct TransferEvent: Sendable, Hashable {
  public let recorded: RecordedEvent
  public let cursor: EventCursor
}

/// What happens, from the store and so whoever does it: each event once, and each request once when it has ended.
/// Nothing is lost between two looks, however slow the reader is, because it is read when it is asked for. It ends when
/// the task is cancelled. A reader that stored the cursor of its last event goes on behind it, in another process too.
public struct EventSequence: AsyncSequence, Sendable {
  let watch: StoreWatch
  let filter: RowFilter
  let cursor: EventCursor?

  public func makeAsyncIterator() -> Iterator { Iterator(watch: watch, filter: filter, cursor: cursor) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    private let watch: StoreWatch
    private let filter: RowFilter
    /// nil before the first look of a reader that wants only what comes.
    private var cursor: EventCursor?
    private var pace: WatchPace
    private var page: ArraySlice<TransferEvent> = []

    init(watch: StoreWatch, filter: RowFilter, cursor: EventCursor?) {
      (self.watch, self.filter, self.cursor) = (watch, filter, cursor)
      pace = WatchPace(watch.clock)
    }

    public mutating func next() async throws(TransferError) -> TransferEvent? { try await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransferError) -> TransferEvent? {
      while page.isEmpty {
        guard let found = try await look() else { return nil }
        if !found.isLast { pace.goOn() }
        cursor = found.end
        page = found.events[...]
      }
      return Task.isCancelled ? nil : page.removeFirst()
    }

    /// The next page with anything in it, or the one that says where what comes begins; nil when the task was
    /// cancelled.
    private mutating func look() async throws(TransferError) -> EventPage? {
      let (filter, cursor) = (filter, cursor)
      return try await watch.until(&pace) { reader in
        guard let cursor else { return EventPage(end: try reader.newestCursor(filter)) }
        let page = try EventPage(reader, filter, after: cursor)
        return page.rows.isEmpty ? nil : page
      }
    }
  }
}

extension EventPage {
  fileprivate var events: [TransferEvent] { rows.map { TransferEvent(recorded: $0.row, cursor: $0.cursor) } }
}

extension TransferClient {
  /// Events behind `cursor`; without one those that come from the first time on that one is asked for.
  public func events(of filter: RowFilter = RowFilter(), after cursor: EventCursor? = nil) -> EventSequence {
    EventSequence(watch: watch, filter: filter, cursor: cursor)
  }

  /// What is recorded behind `cursor`, without waiting for more: a page of it, empty when there is nothing.
  public func recordedEvents(
    of filter: RowFilter = RowFilter(), after cursor: EventCursor
  ) async throws(TransferError) -> [TransferEvent] {
    try await read { try EventPage($0, filter, after: cursor) }.events
  }

  /// Behind everything that is recorded now.
  public func newestCursor(of filter: RowFilter = RowFilter()) async throws(TransferError) -> EventCursor {
    try await read { try $0.newestCursor(filter) }
  }

  var watch: StoreWatch { StoreWatch(owner: owner, pool: pool, clock: clock) }
}
