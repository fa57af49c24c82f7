import FoundationEssentials
import Glibc
import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// One report value in every output format.
@Suite struct FormatTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try ReadingTests.shared.get().store
  }

  @Test(
    arguments: [
      "status", "list batches", "list files", "list attempts", "report summary", "report failures", "show f2",
      "store check", "list files --state paused", "list files --columns path,id,bytes", "show f1 --columns kind,row.id",
    ], ["ndjson", "csv", "tsv"])
  func looksLikeThis(_ command: String, _ format: String) throws {
    let outcome = try run("\(command) --format \(format)")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.err.isEmpty)
    try Golden.expect("\(command).\(format)", outcome.out, hiding: store)
  }

  @Test func chosenColumnsInATableAndInADocument() throws {
    #expect(
      try run("list files f1-f2 --columns id,bytes,uid").out.split(separator: "\n")[0].split(separator: " ")
        == ["Id", "Size", "uid"])
    let document = try run("list files f1 --format json --columns id,bytes").out
    #expect(document.hasPrefix("{\"data\":[\n{\"bytes\":10485760,\"id\":\"f1\"}\n],"))
    #expect(try run("status --columns files_total,files.done").out == "files.done   1\nfiles_total  5\n")
    #expect(try run("status --json --columns files.done").out.hasPrefix(#"{"data":{"files":{"done":1}},"#))
  }

  /// The text, JSON, NDJSON, CSV and TSV show the same numbers.
  @Test(arguments: [
    ("list files", "id,bytes,bytes_acked,bytes_transferred,bytes_unacked,attempts,wall_ms,bps,started_at,path"),
    ("list batches", "id,files,files_done,files_failed,files_unknown,files_left,bytes,bytes_acked,created_at,retries"),
    ("list attempts", "id,n,http_status,bytes_transferred,bytes_acked,total_ms,started_at"),
    ("report failures", "error_code,files,attempts,first_at,example_path"),
  ])
  func theNumbersAreTheSameInEveryForm(_ command: String, _ columns: String) throws {
    let keys = columns.split(separator: ",").map(String.init)
    let all = "\(command) --columns \(columns)"
    // In a report, a part of the document is selected by its path.
    let part = command == "report failures" ? "failures." : ""
    let chosen = keys.map { part + $0 }.joined(separator: ",")
    let document = try json(try run("\(command) --columns \(chosen) --json").out)
    let data = Self.member(document, "data")
    guard case .array(let rows) = part.isEmpty ? data : Self.member(data, "failures") else {
      Issue.record("no document")
      return
    }
    #expect(rows.count > 1)
    let wanted = rows.map { row in keys.map { Self.member(row, $0) } }
    let records = try run(all + " --format ndjson").out.split(separator: "\n").map { try json(String($0)) }
    #expect(records.dropLast().map { row in keys.map { Self.member(row, $0) } } == wanted)
    #expect(Self.member(try #require(records.last), "rows") == .integer(Int64(rows.count)))
    for (format, parse) in [("csv", Self.csv), ("tsv", Self.tsv)] {
      let lines = parse(try run(all + " --format \(format)").out)
      let header = try #require(lines.first)
      let fields = lines.dropFirst().map { line in keys.map { line[header.firstIndex(of: $0)!] } }
      #expect(fields == wanted.map { $0.map { $0.leaves().first?.value ?? "" } }, "\(format)")
    }
    let table = try run(all).out.split(separator: "\n").dropFirst()
    #expect(table.count == rows.count)
    for (line, row) in zip(table, wanted) {
      for (key, figure) in zip(keys, row) { #expect(line.contains(Self.shown(key, figure)), "\(key) in \(line)") }
    }
  }

  /// How the table must show a JSON value.
  private static func shown(_ key: String, _ figure: JSONTree) -> String {
    switch figure {
    case .null: "-"
    case .integer(let number) where key.hasPrefix("bytes"): Quantity.bytes(number)
    case .integer(let number) where key == "bps": Quantity.bytesPerSecond(number)
    case .integer(let number) where key.hasSuffix("_ms"): Quantity.duration(number)
    case .integer(let number): String(number)
    case .text(let text) where key.hasSuffix("_at"):
      String(text.replacing("T", with: " ").prefix(19))
    case .text(let text) where key.hasSuffix("path"): printable(text).split(separator: "\u{FFFD}").map(String.init)[0]
    default: figure.leaves().first?.value ?? ""
    }
  }

  private static func member(_ value: JSONTree, _ key: String) -> JSONTree {
    if case .object(let members) = value { members[key] ?? .null } else { .null }
  }

  private func json(_ text: String) throws -> JSONTree {
    try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8))
  }

  /// A reader of RFC 4180 that is independent of the writer.
  private static func csv(_ text: String) -> [[String]] {
    var lines: [[String]] = []
    var (line, field, isQuoted) = ([String](), [UInt8](), false)
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case 0x22 where isQuoted && rest.first == 0x22: field.append(rest.removeFirst())
      case 0x22: isQuoted.toggle()
      case _ where isQuoted: field.append(byte)
      case 0x2C, 0x0D:
        line.append(String(decoding: field, as: UTF8.self))
        field = []
        guard byte == 0x0D else { continue }
        #expect(rest.popFirst() == 0x0A)
        lines.append(line)
        line = []
      default: field.append(byte)
      }
    }
    return lines
  }

  private static func tsv(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { unescaped($0) }
    }
  }

  private static func unescaped(_ field: Substring) -> String {
    var out: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == 0x5C, let next = rest.popFirst() else {
        out.append(byte)
        continue
      }
      if next == 0x78 {
        out.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      } else {
        out.append([0x6E: 0x0A, 0x74: 0x09, 0x72: 0x0D][next] ?? next)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  @Test(arguments: [
    ("list files --columns nothing", #"unknown column "nothing". Try: id, uid, batch"#),
    ("list files --state paused --columns nothing", "unknown column"),
    ("status --columns nothing", #"unknown column "nothing". Try: active, bps, bytes"#),
    ("status --json --columns files.lost", #"unknown column "lost". Try: done"#),
    ("status --columns bytes.x", #"unknown column "x""#), ("list --columns id,id", "a name twice"),
    ("list --columns ,", "needs names"), ("list --json --format csv", "contradict each other"),
    ("list --format xml", #""xml" is not one of"#),
  ])
  func whatIsNotThereIsWrongUse(_ command: String, _ part: String) throws {
    let outcome = try run(command)
    #expect(outcome.code == 64)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").filter { !$0.hasPrefix("{") }.count == 1)
  }

  @Test(arguments: OutputFormat.allCases)
  func aReaderThatWentAwayIsNoError(_ format: OutputFormat) throws {
    for command in [["list", "files"], ["status"]] where format != .prometheus || command == ["status"] {
      let outcome = try program.runIntoClosedPipe(command + ["--format", format.rawValue, "--store", store])
      #expect(outcome.code == 0)
      #expect(outcome.signal == 0)
      #expect(outcome.err.isEmpty)
    }
  }

  @Test(arguments: ["json", "ndjson"])
  func aFailureIsARecordToo(_ format: String) throws {
    let outcome = try run("show f99 --format=\(format)")
    #expect(outcome.err.split(separator: "\n").last?.contains(#""type":"exit""#) == true)
    #expect(try !run("show f99 --format csv").err.contains("{"))
  }

  private func run(_ command: String) throws -> BuiltProgram.Outcome {
    try program.run(
      (command.split(separator: " ").map { Array($0.utf8) }) + [Array("--store".utf8), Array(store.utf8)])
  }
}
