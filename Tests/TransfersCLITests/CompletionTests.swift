import Glibc
import Testing

@testable import TransfersCLI

/// Shell completion, run as shells run it.
@Suite struct CompletionTests {
  let program: BuiltProgram

  init() throws { program = try BuiltProgram() }

  @Test(arguments: CompletionsCommand.Shell.allCases.map(\.rawValue))
  func aShellThatIsHereReadsTheScript(_ shell: String) throws {
    let script = program.folder.path + "/script"
    let outcome = try program.run("completions", shell, "-o", script)
    #expect(outcome.code == 0, "\(outcome.err)")
    let text = try readText(script)
    #expect(text.contains("push"))
    #expect(text.ranges(of: "\n_transfers_help() {").count <= 1, "the help function is defined at most once")
    guard let program = Self.find(shell) else {
      #expect(shell != "bash", "bash is not installed")
      return
    }
    #expect(try Self.output("\(program) -n \(script) && echo good").suffix(5) == "good\n")
  }

  @Test(arguments: [
    ("stat", "status"), ("store che", "check"), ("run --ra", "--rate\n--rate-group"), ("list --format nd", "ndjson"),
    ("help exit", "exit-codes"), ("completions fi", "fish"), ("list --batch ni", "nightly"), ("show b", "b1\nb2"),
    ("retry b2", "b2"),
  ])
  func bashCompletes(_ line: String, _ expected: String) throws {
    #expect(try complete(line, ReadingTests.shared.get().store) == expected)
  }

  @Test func bashOffersFilesWhereNothingElseFits() throws {
    let last = try program.run("completions", "bash").out.split(separator: "\n").last
    #expect(last == "complete -o default -o filenames -F _transfers transfers")
  }

  /// Completion never creates a ledger, and offers nothing if there is none.
  @Test func withoutALedgerNothingIsOfferedAndNothingMade() throws {
    let store = program.folder.path + "/none.db"
    #expect(try complete("show b", store) == "")
    #expect(access(store, F_OK) != 0)
    try writeFile(store, Array("no ledger".utf8))
    #expect(try complete("list --batch b", store) == "")
  }

  /// The completions that bash offers for the last word of `transfers LINE`, sorted, one a line; also its errors.
  private func complete(_ line: String, _ store: String) throws -> String {
    let script = program.folder.path + "/script"
    guard try program.run("completions", "bash", "-o", script).code == 0 else { return "no script" }
    let words = ["transfers"] + line.split(separator: " ").map(String.init)
    let text = """
      exec 2>&1
      shopt -s extglob
      source \(script)
      transfers() { TRANSFERS_STORE=\(store) HOME=\(program.folder.path) \(BuiltProgram.path) "$@"; }
      COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
      COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
      _transfers transfers "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
      printf '%s\\n' "${COMPREPLY[@]}" | sort -u
      """
    let file = program.folder.path + "/ask"
    try writeFile(file, Array(text.utf8))
    let out = try Self.output("bash --norc --noprofile \(file)")
    return out.split(separator: "\n").joined(separator: "\n")
  }

  private static func find(_ shell: String) -> String? {
    ["/usr/bin", "/bin", "/usr/local/bin"].map { "\($0)/\(shell)" }.first { access($0, X_OK) == 0 }
  }

  private static func output(_ command: String) throws -> String {
    guard let pipe = popen(command, "r") else { throw SystemFailure("popen") }
    defer { pclose(pipe) }
    var bytes: [UInt8] = []
    var byte = fgetc(pipe)
    while byte != EOF {
      bytes.append(UInt8(truncatingIfNeeded: byte))
      byte = fgetc(pipe)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
