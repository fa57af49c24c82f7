import FoundationEssentials
import Testing
import TransferModel

@testable import TransfersCLI

/// Errors and remedies name only options that exist.
@Suite struct NamedOptionsTests {
  private struct Dump: Decodable {
    struct Name: Decodable { let kind, name: String }
    struct Argument: Decodable { let names: [Name]? }
    struct Command: Decodable {
      let commandName: String
      let arguments: [Argument]?
      let subcommands: [Command]?
    }
    let command: Command
  }

  /// The options of each command, by its full name: `manifest rebase`.
  private let commands: [String: Set<String>]

  init() throws {
    var (commands, rest): ([String: Set<String>], [(String, Dump.Command)]) = ([:], [])
    let help = try BuiltProgram().run("--experimental-dump-help").out
    let dump = try JSONDecoder().decode(Dump.self, from: Data(help.utf8))
    rest = [("", dump.command)]
    while let (words, command) = rest.popLast() {
      let names = (command.arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name)
      commands[words] = Set(names)
      rest += (command.subcommands ?? []).map { ((words.isEmpty ? "" : words + " ") + $0.commandName, $0) }
    }
    self.commands = commands
  }

  /// Names that are not options of a command: those of curl, env, ArgumentParser, the pages of `serve`, an S3 source,
  /// sbatch and squeue, and the script that they run; also the parts of composed options.
  private static let others: Set<String> = [
    "generate-completion-script", "no-", "view", "x-s3", "array", "requeue", "signal", "open-mode", "job-name", "task",
    "me", "unset", "chdir",
  ]

  /// The wrong options in a text. After `transfers COMMAND` only the options of that command are right.
  private func faults(_ text: Substring) -> [String] {
    let named = text.matches(of: /(?:^|[^\w-])--([a-z][a-z0-9-]*)/).map { (String($0.1), $0.1.startIndex) }
    let all = commands.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    let line = text.firstMatch(of: /\btransfers ((?:[a-z][a-z-]* ?)+)/)
    let command = line.flatMap { options(of: $0.1) }
    return named.compactMap { name, place in
      let isBehind = line.map { $0.range.upperBound <= place && !text[$0.range.upperBound..<place].contains(";") }
      let known = isBehind == true ? command ?? all : all
      return known.contains(name) || Self.others.contains(name) ? nil : "--\(name)"
    }
  }

  private func options(of line: Substring) -> Set<String>? {
    var words = line.split(separator: " ")
    while !words.isEmpty {
      if let options = commands[words.joined(separator: " ")] { return options }
      words.removeLast()
    }
    return nil
  }

  @Test func aTextWithAWrongOptionIsFound() {
    #expect(faults("transfers manifest rebase --form list") == [])
    #expect(faults("transfers manifest rebase --live") == ["--live"])
    #expect(faults("leave out --nonesuch, or give --to") == ["--nonesuch"])
  }

  @Test func everyNamedOptionExists() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/"
    var (wrong, texts) = ([String](), 0)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root + "Sources")
    for path in paths where path.hasSuffix(".swift") && path.hasPrefix("Transfer") && !path.contains("/Replay/") {
      let source = try readText(root + "Sources/" + path)
      let lines = source.split(separator: "\n").filter { $0.contains("--") }
      for line in lines where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for text in line.matches(of: /"((?:[^"\\]|\\.)*)"/) {
          texts += 1
          wrong += faults(text.1).map { "\(path): \($0) in \(text.1)" }
        }
      }
    }
    #expect(texts > 400 && wrong.isEmpty, "\(texts) texts; \(wrong.joined(separator: "\n"))")
  }
}
