public import TransferModel

/// A recorded event, and the cursor after it, from which another reader can continue.
public struct TransferEvent: Sendable, Hashable {
  public let recorded: RecordedEvent
  public let cursor: EventCursor
}

/// Events of the store, whichever process caused them: each event once, and each request once when it has ended. They
/// are read on demand, so that even a slow reader misses none. The sequence ends when the task is cancelled. A reader
/// that stored the cursor of its last event can continue after it, even in another process.
public struct EventSequence: AsyncSequence, Sendable {
  let watch: StoreWatch
  let filter: RowFilter
  let cursor: EventCursor?

  public func makeAsyncIterator() -> Iterator { Iterator(watch: watch, filter: filter, cursor: cursor) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    private let watch: StoreWatch
    private let filter: RowFilter
    /// nil before the first query of a reader that only wants future events.
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

    /// The next page with events, or the empty page that determines where future events begin; nil when the task was
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
  /// Events after `cursor`; without one, the events recorded after the first event is requested.
  public func events(of filter: RowFilter = RowFilter(), after cursor: EventCursor? = nil) -> EventSequence {
    EventSequence(watch: watch, filter: filter, cursor: cursor)
  }

  /// One page of the events recorded after `cursor`, without waiting for more; empty when there are none.
  public func recordedEvents(
    of filter: RowFilter = RowFilter(), after cursor: EventCursor
  ) async throws(TransferError) -> [TransferEvent] {
    try await read { try EventPage($0, filter, after: cursor) }.events
  }

  /// The cursor after everything that is recorded now.
  public func newestCursor(of filter: RowFilter = RowFilter()) async throws(TransferError) -> EventCursor {
    try await read { try $0.newestCursor(filter) }
  }

  var watch: StoreWatch { StoreWatch(owner: owner, pool: pool, clock: clock) }
}
