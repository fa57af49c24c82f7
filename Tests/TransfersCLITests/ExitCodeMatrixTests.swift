import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Makes the built program end with every exit code. Each comes with one line on standard error, and with --json with a
/// record that says the same.
@Suite struct ExitCodeMatrixTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let code: ExitCode
    /// In `error[…]`.
    let error: String
    /// `SRC`, `URL`, `STORE`, `FOLDER` stand for what the test creates.
    let command: String
    /// How the server misbehaves.
    var script = ""
    /// Commands to run first, with the same placeholders.
    var before: [String] = []
    var environment: [String: String] = [:]
    /// Whether --store is added.
    var hasStore = true

    var testDescription: String { "\(code.rawValue): \(command)" }
  }

  private static let refusesOne = "match PUT /in/b : status=413"
  private static let refusesAll = "match PUT * : status=403"

  static let rows = [
    Row(code: .ok, error: "", command: "push SRC URL/in/"),
    Row(code: .ok, error: "", command: "push SRC URL/in/", before: ["push SRC URL/in/"]),
    Row(code: .partial, error: "partial", command: "push SRC URL/in/", script: "match PUT /in/b : status=413"),
    Row(
      code: .partial, error: "partial", command: "push SRC post+URL/in/", script: "match POST * nth=1 : lose-answer"),
    Row(code: .allFailed, error: "all_failed", command: "push SRC URL/in/", script: "match PUT * : status=403"),
    // Failures of an earlier command count for every command that reports on the same files.
    Row(code: .partial, error: "partial", command: "run", script: refusesOne, before: ["push SRC URL/in/"]),
    Row(code: .partial, error: "partial", command: "wait --all", script: refusesOne, before: ["push SRC URL/in/"]),
    Row(
      code: .partial, error: "partial", command: "status --exit-code", script: refusesOne, before: ["push SRC URL/in/"]),
    Row(code: .ok, error: "", command: "status", script: refusesOne, before: ["push SRC URL/in/"]),
    Row(
      code: .partial, error: "partial", command: "run", script: "match POST * nth=1 : lose-answer",
      before: ["push SRC post+URL/in/"]),
    Row(code: .partial, error: "partial", command: "run", before: ["add SRC URL/in/", "cancel f1"]),
    Row(code: .allFailed, error: "all_failed", command: "run", script: refusesAll, before: ["push SRC URL/in/"]),
    Row(
      code: .allFailed, error: "all_failed", command: "status --exit-code", script: refusesAll,
      before: ["push SRC URL/in/"]),
    Row(code: .ok, error: "", command: "run", script: refusesOne, before: ["push SRC URL/in/", "clean --failed"]),
    Row(
      code: .ok, error: "", command: "wait --all", script: refusesOne, before: ["push SRC URL/in/", "clean --failed"]),
    Row(
      code: .ok, error: "", command: "status --exit-code", script: refusesOne,
      before: ["push SRC URL/in/", "clean --failed"]),
    Row(code: .workLeft, error: "work_left", command: "status --exit-code", before: ["add SRC URL/in/"]),
    Row(code: .workLeft, error: "work_left", command: "push SRC http://127.0.0.1:1/in/"),
    Row(code: .store, error: "store.missing", command: "run"),
    Row(code: .store, error: "store.missing", command: "status"),
    Row(code: .store, error: "store.unsuitable", command: "push SRC URL/in/ --store FOLDER"),
    Row(code: .store, error: "store.corrupt", command: "push SRC URL/in/ --store SRC/a"),
    Row(
      code: .mismatch, error: "mismatch", command: "push SRC post+URL/in/", script: "match POST * nth=1 : wrong-digest"),
    Row(code: .usage, error: "usage", command: "push --no-such-flag SRC URL/in/"),
    Row(code: .usage, error: "usage", command: "push SRC gopher://127.0.0.1/"),
    Row(code: .usage, error: "usage", command: "explode"),
    Row(code: .usage, error: "usage", command: "list files f9999", before: ["add SRC URL/in/"]),
    Row(code: .usage, error: "usage", command: "store sql DELETE", before: ["add SRC URL/in/"]),
    Row(code: .empty, error: "empty", command: "pause --host none --fail-if-empty", before: ["add SRC URL/in/"]),
    Row(code: .timeout, error: "timeout", command: "wait --last --timeout 1ms", before: ["add SRC URL/in/"]),
    Row(code: .noSource, error: "no_source", command: "push SRC/none URL/in/"),
    Row(code: .noSource, error: "no_source", command: "push --files-from SRC/a URL/in/"),
    Row(code: .badData, error: "bad_list", command: "push --base FOLDER --files-from FOLDER/list URL/in/"),
    Row(code: .auth, error: "auth", command: "push --endpoint-url URL SRC s3://bucket/in/"),
    Row(code: .config, error: "config", command: "status", environment: ["HOME": ""], hasStore: false),
    Row(code: .config, error: "doctor", command: "doctor", environment: ["SSL_CERT_FILE": "/none.pem"]),
    Row(code: .error, error: "output", command: "list files > /dev/full", before: ["add SRC URL/in/"]),
  ]

  let program: BuiltProgram
  private var folder: String { program.folder.path }
  private var source: String { folder + "/src" }

  init() throws {
    program = try BuiltProgram()
    mkdir(source, 0o700)
    for name in ["a", "b", "c"] { try writeFile("\(source)/\(name)", Array("content of \(name)".utf8)) }
    try writeFile(folder + "/list", Array("src\n".utf8))
  }

  /// Some rows wait for a minute for a server that does not return; they do so in parallel.
  @Test(arguments: rows) func theCodeItsLineAndItsRecord(_ row: Row) async throws {
    try await OwnThread.run { try expect(row) }
  }

  private func expect(_ row: Row) throws {
    let receiver = try RunningReceiver(in: program.folder, script: row.script)
    let plain = try run(row, receiver, store: "plain.db", json: false)
    #expect(plain.code == row.code.rawValue && plain.signal == 0, "\(plain.err)")
    let last = plain.err.split(separator: "\n").last.map(String.init) ?? ""
    if row.code == .ok {
      #expect(!plain.err.contains("error["), "\(plain.err)")
    } else {
      #expect(last.hasPrefix("transfers: error[\(row.error)]: "), "\(plain.err)")
      #expect(plain.err.components("error[").count == 2, "one error line: \(plain.err)")
      #expect(!last.hasSuffix("."), "\(last)")
    }
    // A new server, because scripts count requests.
    try expectRecord(row, try RunningReceiver(in: TemporaryFolder(), script: row.script))
  }

  private func expectRecord(_ row: Row, _ receiver: RunningReceiver) throws {
    let json = try run(row, receiver, store: "json.db", json: true)
    #expect(json.code == row.code.rawValue, "\(json.err)")
    #expect(json.out.split(separator: "\n").filter { $0.hasPrefix("{\"type\"") }.isEmpty)
    guard row.code != .ok else { return #expect(!json.err.contains("\"type\":\"exit\"")) }
    let record = json.err.split(separator: "\n").last.map(String.init) ?? ""
    for part in [
      #""code":\#(row.code.rawValue),"#, #""error":"\#(row.error)""#, #""name":"\#(row.code.name)""#,
      #""retryable":\#(row.code.isRetryable)"#, #""type":"exit""#, #""remedy":"#, #""message":"#,
    ] { #expect(record.contains(part), "\(part) in \(record)") }
  }

  private func run(_ row: Row, _ receiver: RunningReceiver, store: String, json: Bool) throws -> BuiltProgram.Outcome {
    for command in row.before { _ = try run(words(command, receiver, store), row, out: nil) }
    let parts = row.command.components(" > ")
    return try run(
      words(parts[0], receiver, store, hasStore: row.hasStore) + (json ? ["--json"] : []), row,
      out: parts.count > 1 ? parts[1] : nil)
  }

  private func run(_ words: [String], _ row: Row, out: String?) throws -> BuiltProgram.Outcome {
    try program.run(
      words.map { Array($0.utf8) },
      environment: ["AWS_CONFIG_FILE": "/none", "AWS_REGION": "r"].merging(row.environment) { $1 },
      out: out)
  }

  private func words(_ command: String, _ receiver: RunningReceiver, _ store: String, hasStore: Bool = true) -> [String]
  {
    let words = command.split(separator: " ").map { word in
      // URL is replaced first, because the random name of a folder may contain these three letters.
      String(word).replacing("URL", with: receiver.url).replacing("SRC", with: source).replacing("FOLDER", with: folder)
    }
    return words + (hasStore && !words.contains("--store") ? ["--store", "\(folder)/\(store)"] : [])
  }

  /// Codes that need a second process or a signal are tested in PushTests: 6, 5 by SIGTERM, 130 and 143. 141 is tested
  /// in PullStreamTests, and 69 in ShardSubmitTests.
  @Test func everyCodeOfTheTableIsMadeToHappen() {
    let here = Set(Self.rows.map(\.code))
    let elsewhere: Set<ExitCode> = [.locked, .interrupted, .closed, .terminated, .unavailable]
    #expect(Set(ExitCode.allCases).subtracting(here).subtracting(elsewhere).isEmpty)
  }

  @Test func theTableOfTheHelpIsTheTableOfTheProgram() throws {
    let help = try program.run("help", "exit-codes").out
    for code in ExitCode.allCases {
      #expect(help.contains { $0.isNewline } && help.contains("\(code.rawValue)  ") && help.contains(code.meaning))
    }
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [String] {
    var parts: [String] = []
    var rest = self[...]
    while let range = rest.firstRange(of: separator) {
      parts.append(String(rest[..<range.lowerBound]))
      rest = rest[range.upperBound...]
    }
    return parts + [String(rest)]
  }
}
