import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// The diagrams of `docs/states.md` match what the triggers of a ledger allow: each pair of states is tried on a row.
/// `RECORD_SNAPSHOTS=1` writes them.
@Suite(.serialized) struct StateDiagramTests {
  private static let page = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/docs/states.md"

  /// A table whose rows have states, a row of it that an engine works on, and the triggers that check states.
  struct Machine: Sendable, CustomTestStringConvertible {
    var table: String
    var column = "state"
    var states: [String]
    var row: String
    /// What a row needs besides its state to be accepted as a new one.
    var anew: String
    var birth: String
    var arrow: String
    /// What a transition may need besides the state.
    var beside = ""
    var testDescription: String { table }
  }

  static let machines = [
    Machine(
      table: "file", states: FileState.allCases.map(\.rawValue), row: "id = 2", anew: "generation = 1",
      birth: "file_birth", arrow: "file_arrow", beside: "may_have_arrived = 1, "),
    Machine(
      table: "chunk", states: ChunkState.allCases.map(\.rawValue), row: "file_id = 2 AND seq = 0",
      anew: "remote = NULL",
      birth: "chunk_birth", arrow: "chunk_arrow"),
    Machine(
      table: "attempt", column: "outcome", states: AttemptOutcome.allCases.map(\.rawValue),
      row: "file_id = 2 AND outcome = 'open'", anew: "chunk_id = NULL", birth: "attempt_birth", arrow: "attempt_closed"),
    Machine(
      table: "session", states: SessionState.allCases.map(\.rawValue), row: "file_id = 2", anew: "remote_id = NULL",
      birth: "session_birth", arrow: "session_arrow"),
  ]

  @Test(arguments: machines)
  func theDiagramIsWhatTheTriggersAllow(_ machine: Machine) throws {
    let diagram = try Self.diagram(machine)
    let (start, end) = ("<!-- generated: \(machine.table) -->\n", "<!-- end -->")
    var text = String(decoding: try fileBytes(Self.page), as: UTF8.self)
    let from = try #require(text.firstRange(of: start), "docs/states.md has no place for \(machine.table)").upperBound
    let to = try #require(text[from...].firstRange(of: end)).lowerBound
    if getenv("RECORD_SNAPSHOTS") != nil {
      text.replaceSubrange(from..<to, with: diagram)
      let file = try #require(fopen(Self.page, "w"))
      fputs(text, file)
      fclose(file)
    } else {
      #expect(text[from..<to] == diagram)
    }
  }

  /// Drops all other rules of the table, so that only the two triggers decide.
  private static func diagram(_ machine: Machine) throws -> String {
    let f = try LedgerFixture()
    try RulesTests.fill(f)
    let (birth, arrow) = (try trigger(machine.birth, f), try trigger(machine.arrow, f))
    let db = try Connection(path: f.path, access: .readWrite)
    try db.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
    let rules = try f.texts(
      """
      SELECT 'DROP ' || type || ' ' || name FROM sqlite_schema
      WHERE tbl_name = '\(machine.table)' AND (type = 'trigger' OR type = 'index' AND sql LIKE 'CREATE UNIQUE%')
      """)
    for rule in rules { try db.execute(rule) }
    let lines =
      try firstStates(machine, birth, db).map { "  [*] --> \($0)" }
      + (try arrows(machine, arrow, db)).map { "  \($0.from) --> \($0.to)" }
    return (["```mermaid", "stateDiagram-v2"] + lines + ["```", ""]).joined(separator: "\n")
  }

  private static func trigger(_ name: String, _ f: LedgerFixture) throws -> String {
    let found = try f.texts("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = '\(name)'")
    return try #require(found.first, "no trigger \(name)")
  }

  /// Deletes the row and inserts it as a new one in each state.
  private static func firstStates(_ machine: Machine, _ birth: String, _ db: Connection) throws -> [String] {
    let table = machine.table
    try db.execute("\(birth); CREATE TEMP TABLE offered AS SELECT * FROM \(table) WHERE \(machine.row)")
    defer { try? db.execute("DROP TRIGGER \(machine.birth)") }
    return try machine.states.filter { state in
      try db.execute("DELETE FROM \(table) WHERE id IN (SELECT id FROM offered)")
      try db.execute("UPDATE offered SET \(machine.anew), \(machine.column) = '\(state)'")
      return (try? db.execute("INSERT INTO \(table) SELECT * FROM offered")) != nil
    }
  }

  private static func arrows(_ machine: Machine, _ arrow: String, _ db: Connection) throws
    -> [(from: String, to: String)]
  {
    try db.execute("INSERT OR IGNORE INTO \(machine.table) SELECT * FROM offered")
    func set(_ state: String) throws {
      let change = "\(machine.beside)\(machine.column) = '\(state)'"
      try db.execute("UPDATE \(machine.table) SET \(change) WHERE id = (SELECT id FROM offered)")
    }
    var found: [(from: String, to: String)] = []
    for from in machine.states {
      for to in machine.states where to != from {
        try set(from)
        try db.execute(arrow)
        if (try? set(to)) != nil { found.append((from, to)) }
        try db.execute("DROP TRIGGER \(machine.arrow)")
      }
    }
    return found
  }
}
