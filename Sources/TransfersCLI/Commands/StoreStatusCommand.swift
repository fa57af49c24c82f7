import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `transfers store status`.
struct StoreStatusCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the size and contents of the ledger, and whether an engine owns it.")

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
  private let numbers: StoreNumbers
  private let facts: StoreFacts
  private let condition: StoreCondition
  private let engine: EngineStatus

  init(_ numbers: StoreNumbers, _ facts: StoreFacts, _ condition: StoreCondition, _ engine: EngineStatus) {
    (self.numbers, self.facts, self.condition, self.engine) = (numbers, facts, condition, engine)
  }

  static let form = ReportForm<StoreStatusOutput>(
    "transfers.store.status/1",
    [
      .facts([
        .name("path", "path") { NameBytes($0.condition.path) },
        .bytes("bytes", "size") { $0.numbers.bytes }.saying { $0.sizes },
        .bytes("wal_bytes") { $0.condition.walBytes },
        .integer("free_pages") { $0.numbers.freePages },
        .bytes("free_page_bytes") { $0.unusedBytes },
        .bytes("free_disk_bytes", "free disk") { $0.condition.freeBytes },
        .integer("schema_version", "schema") { $0.facts.schemaVersion },
        .integer("view_version", "views") { $0.facts.viewVersion },
        .text("journal_mode", "journal") { $0.numbers.journalMode },
        .text("mode", "mode") { $0.condition.mode.map(Octal.text) },
        .counts("rows", "rows") { Dictionary(uniqueKeysWithValues: $0.rows) }.saying { output in
          output.rows.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        },
        .time("created_at", "created") { $0.numbers.createdMs },
        .text("created_by", "by") { $0.numbers.createdBy },
        .time("newest_at", "newest") { $0.numbers.newestMs },
        .text("uid", "uid") { $0.facts.uid },
      ]),
      .record("engine", nil, EngineStatus.columns) { $0.engine },
      .facts([
        .flag("is_locked", "lock") { $0.isLocked }.saying { $0.isLocked == true && !$0.engine.alive ? "held" : nil }
      ]),
    ])

  private var unusedBytes: Int64 { numbers.freePages * numbers.pageSize }

  private var sizes: String {
    "\(Quantity.bytes(numbers.bytes)), log \(Quantity.bytes(condition.walBytes)), unused pages \(Quantity.bytes(unusedBytes))"
  }

  private var rows: [(String, Int)] {
    [
      ("batches", numbers.batches), ("files", numbers.files), ("chunks", numbers.chunks),
      ("attempts", numbers.attempts), ("events", numbers.events), ("runs", numbers.runs),
    ].map { ($0.0, Int($0.1)) }
  }

  /// Whether an engine holds the lock; nil if unknown.
  private var isLocked: Bool? {
    switch condition.lock {
    case .free: false
    case .held: true
    case .unknown: nil
    }
  }
}

/// Permission bits as people write them: `0600`.
enum Octal {
  static func text(_ mode: UInt32) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
