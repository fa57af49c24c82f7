/// The requests of one active file: those with an open attempt, those requested from the ledger, and the chunks that
/// wait for their next one. A value.
struct FileRequests: Sendable {
  private var open = OpenRequests.none
  private(set) var backoffs: ChunkBackoffs
  /// The length of the table of published checksums that was requested, until its search has ended; 0 for none.
  private(set) var tableLength: Int64 = 0
  /// Consecutive requests for chunks for which the ledger had none.
  private var emptyBegins = 0
  private static let emptyBeginLimit = 100
  /// The wait after the ledger began fewer chunks than requested: its clock was behind ours when a backoff ended.
  private static let clockWaitMs: Int64 = 20

  init(_ backoffs: ChunkBackoffs) { self.backoffs = backoffs }

  /// Requests with an open attempt, and those requested from the ledger.
  var count: Int { open.count }
  var openChunks: Int { open.openChunks }
  /// Chunks that are open or requested from the ledger.
  var chunkCount: Int { isControl ? 0 : open.count }
  var isControl: Bool { open == .control }

  // MARK: - Beginning

  /// - Parameter table: how long the table of checksums in its answer may be; nil for a step without one.
  mutating func beginControl(table: Int64? = nil) {
    open = .control
    if let table { tableLength = table }
  }

  /// Requests chunks from the ledger. Returns how many; 0 if none may begin now.
  /// - Parameters:
  ///   - unsent: chunks that could be sent if no backoff applied.
  ///   - most: how many chunks may be open at once.
  ///   - limit: how many may begin now.
  mutating func beginChunks(unsent: Int, most: Int, limit: Int, nowMs: Int64) -> Int {
    let due = backoffs.dueCount(nowMs: nowMs)
    let untried = backoffs.isFailingWidely ? 0 : unsent - backoffs.count
    let count = max(0, min(limit, untried + due, most - chunkCount))
    guard count > 0 else { return 0 }
    backoffs.begin(count, nowMs: nowMs)
    open.ask(count)
    return count
  }

  /// The ledger began `begun` of the chunks requested. False if it had none too often: something is wrong with it.
  mutating func began(_ begun: Int, ofAsked asked: Int, nowMs: Int64) -> Bool {
    open.began(begun, ofAsked: asked)
    backoffs.add(asked - begun, untilMs: nowMs + Self.clockWaitMs)
    emptyBegins = asked > 0 && begun == 0 ? emptyBegins + 1 : 0
    return emptyBegins <= Self.emptyBeginLimit
  }

  // MARK: - Ending

  mutating func end(_ target: BegunRequest.Target) {
    switch target {
    case .chunk: open.endChunk()
    case .control: (open, tableLength) = (.none, 0)
    }
  }

  /// The table in the answer to the last step is in memory, and is to be searched.
  mutating func keepTable(_ length: Int64) { tableLength = length }

  /// The search has ended.
  mutating func endTable() { tableLength = 0 }

  /// A chunk failed, and may be sent again at this time.
  mutating func backOff(untilMs: Int64) { backoffs.add(untilMs: untilMs) }

  /// `count` of the chunks in backoff turned out to be stored.
  mutating func dropBackoffs(_ count: Int) { backoffs.drop(count) }

  /// The server said from where the file continues: no chunk backs off any more.
  mutating func endBackoffs() { backoffs.removeAll() }
}
