/// One run of a pattern over one text.
struct PatternMachine {
  private let program: [BytePattern.Instruction]
  private let text: [UInt8]
  /// In order of preference.
  private var threads: [Thread] = []
  private var next: [Thread] = []
  /// The position (+1) at which each instruction was last added, so that it is added once.
  private var added: [Int]

  private struct Thread {
    var at: Int
    var saves: Saves
  }

  private struct Saves {
    var start = -1
    var end = -1
    var groupStart = -1
    var groupEnd = -1

    mutating func set(_ slot: Int, _ position: Int) {
      switch slot {
      case 0: start = position
      case 1: end = position
      case 2: groupStart = position
      default: groupEnd = position
      }
    }
  }

  init(_ program: [BytePattern.Instruction], _ text: [UInt8]) {
    self.program = program
    self.text = text
    added = [Int](repeating: 0, count: program.count)
  }

  mutating func run() -> [UInt8]? {
    var found: Saves?
    for position in 0...text.count {
      if found == nil { add(Thread(at: 0, saves: Saves()), position, to: \.threads) }
      if threads.isEmpty { break }
      step(position, &found)
      swap(&threads, &next)
      next.removeAll(keepingCapacity: true)
    }
    guard let found else { return nil }
    let hasGroup = found.groupStart >= 0 && found.groupEnd >= found.groupStart
    return Array(hasGroup ? text[found.groupStart..<found.groupEnd] : text[found.start..<found.end])
  }

  private mutating func step(_ position: Int, _ found: inout Saves?) {
    for thread in threads {
      switch program[thread.at] {
      case .match:
        found = thread.saves
        // The remaining threads are less preferred.
        return
      case .bytes(let set) where position < text.count && set.contains(text[position]):
        add(Thread(at: thread.at + 1, saves: thread.saves), position + 1, to: \.next)
      default: break
      }
    }
  }

  /// Follows all instructions that consume no byte, the preferred ones first.
  private mutating func add(_ thread: Thread, _ position: Int, to list: WritableKeyPath<PatternMachine, [Thread]>) {
    var open = [thread]
    while var current = open.popLast() {
      guard added[current.at] != position + 1 else { continue }
      added[current.at] = position + 1
      switch program[current.at] {
      case .jump(let target): open.append(Thread(at: target, saves: current.saves))
      case .split(let first, let second):
        open.append(Thread(at: second, saves: current.saves))
        open.append(Thread(at: first, saves: current.saves))
      case .save(let slot):
        current.saves.set(slot, position)
        open.append(Thread(at: current.at + 1, saves: current.saves))
      case .atStart where position == 0, .atEnd where position == text.count:
        open.append(Thread(at: current.at + 1, saves: current.saves))
      case .atStart, .atEnd: break
      case .bytes, .match: self[keyPath: list].append(current)
      }
    }
  }
}
