import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store status`.
struct StoreStatusCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show how large the ledger is, what it holds, and whether an engine has it.")

  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let (numbers, facts, engine) = try LedgerAccess.read(ledger) { reader in
      (try reader.storeNumbers(), try reader.storeFacts(), try reader.engine(context.clock))
    }
    let value = StoreStatusOutput(
      numbers, facts, TransferStore(at: ledger.path).condition, EngineStatus(engine))
    try common.print(value, store: StoreIdentity(ledger), context)
  }
}

/// What `store status` shows.
struct StoreStatusOutput: OutputValue {
  static let schema = "transfers.store.status/1"
  let path, bytes, walBytes, freePages, freePageBytes, freeDiskBytes, mode, journalMode: Cell
  let uid, schemaVersion, viewVersion, createdBy, createdAt, newestAt: Cell
  let rows: [String: Int64]
  let engine: EngineStatus
  /// Whether an engine holds the lock; `null` when it cannot be known.
  let isLocked: Cell

  init(_ numbers: StoreNumbers, _ facts: StoreFacts, _ condition: StoreCondition, _ engine: EngineStatus) {
    path = .name(NameBytes(condition.path))
    bytes = .bytes(numbers.bytes)
    walBytes = .bytes(condition.walBytes)
    freePages = .integer(numbers.freePages)
    freePageBytes = .bytes(numbers.freePages * numbers.pageSize)
    freeDiskBytes = Cell(bytes: condition.freeBytes)
    mode = Cell(condition.mode.map(Octal.text))
    journalMode = .text(numbers.journalMode)
    uid = .text(facts.uid)
    (schemaVersion, viewVersion) = (.integer(facts.schemaVersion), .integer(facts.viewVersion))
    (createdBy, createdAt) = (.text(numbers.createdBy), .time(numbers.createdMs))
    newestAt = Cell(time: numbers.newestMs)
    rows = [
      "batches": numbers.batches, "files": numbers.files, "chunks": numbers.chunks, "attempts": numbers.attempts,
      "events": numbers.events, "runs": numbers.runs,
    ]
    self.engine = engine
    isLocked =
      switch condition.lock {
      case .free: .flag(false)
      case .held: .flag(true)
      case .unknown: .none
      }
  }

  func text(_ style: TextStyle) -> String {
    let counts = ["batches", "files", "chunks", "attempts", "events", "runs"].map { "\(rows[$0] ?? 0) \($0)" }
    let lines = [
      ("path", path.text), ("size", "\(bytes.text), log \(walBytes.text), unused pages \(freePageBytes.text)"),
      ("disk", "\(freeDiskBytes.text) free"),
      ("schema", "\(schemaVersion.text), views \(viewVersion.text), journal \(journalMode.text), mode \(mode.text)"),
      ("rows", counts.joined(separator: ", ")), ("created", "\(createdAt.text) by \(createdBy.text)"),
      ("newest", newestAt.text), ("uid", uid.text),
    ]
    let table = lines.map { DisplayWidth.pad($0.0, to: 9, alignsRight: false) + $0.1 + "\n" }.joined()
    return table + engine.line + (isLocked == .flag(true) && !engine.alive ? "; its lock is held\n" : "\n")
  }
}

/// Permission bits as people write them: `0600`.
enum Octal {
  static func text(_ mode: UInt32) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
