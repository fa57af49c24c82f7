import TransferModel

/// The states that can be active at a moment, apart from backoff and decisions.
enum Slot {
  case part(WallPart)
  case hostWait, engine, asleep

  static let count = WallPart.allCases.count + 3

  var index: Int {
    switch self {
    case .part(let part): part.rawValue
    case .hostWait: WallPart.allCases.count
    case .engine: WallPart.allCases.count + 1
    case .asleep: WallPart.allCases.count + 2
    }
  }
}

/// Something that begins or ends.
struct Change {
  enum What {
    case begin(Slot), end(Slot)
    /// A backoff begins.
    case wait(WaitKey, until: Int64)
    /// The backoff ends, unless it was ended earlier.
    case waited(WaitKey)
    /// By its index in the frame.
    case decision(Int)
  }

  let atMs: Int64
  /// Order within one millisecond: changes by requests, then decisions of people, then expiries.
  let rank: Int
  let what: What
}

/// Changes that are still to come, the earliest first: a binary heap.
struct ChangeQueue {
  private var heap: [Change] = []
  /// Equal moments keep their order, so that one history always gives one result.
  private var orders: [Int] = []
  private var pushed = 0

  /// A span without length is ignored.
  mutating func push(_ span: TimeSpan, _ slot: Slot) {
    guard span.toMs > span.fromMs else { return }
    push(Change(atMs: span.fromMs, rank: 0, what: .begin(slot)))
    push(Change(atMs: span.toMs, rank: 0, what: .end(slot)))
  }

  mutating func push(_ change: Change) {
    heap.append(change)
    orders.append(pushed)
    pushed += 1
    var child = heap.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      swap(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// The earliest change, if it is not later than `moment`.
  mutating func pop(through moment: Int64) -> Change? {
    guard let first = heap.first, first.atMs <= moment else { return nil }
    swap(0, heap.count - 1)
    heap.removeLast()
    orders.removeLast()
    sink()
    return first
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) { least = child }
      if least == parent { return }
      swap(parent, least)
      parent = least
    }
  }

  private func isBefore(_ a: Int, _ b: Int) -> Bool {
    (heap[a].atMs, heap[a].rank, orders[a]) < (heap[b].atMs, heap[b].rank, orders[b])
  }

  private mutating func swap(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    orders.swapAt(a, b)
  }
}
