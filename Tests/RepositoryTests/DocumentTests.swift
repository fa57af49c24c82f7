import ArgumentParser
import Testing

@testable import TransfersCLI

@Suite struct DocumentTests {
  /// The table of docs/commands.md under `## Commands` has a row for each command, and no row for anything else. The
  /// first column begins with `` `transfers NAME``.
  @Test func theReferenceListsTheCommands() throws {
    let lines = try #require(Repository.text("docs/commands.md"), "docs/commands.md is missing").split(separator: "\n")
    let section = lines.drop { $0 != "## Commands" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    let listed = section.compactMap { line -> String? in
      guard line.hasPrefix("| `transfers ") else { return nil }
      return line.dropFirst("| `transfers ".count).prefix { $0 != " " && $0 != "`" }.description
    }
    #expect(Set(listed) == Set(RootCommand.names))
  }

  /// A row that begins with `` `transfers NAME a\|b\|c`` names the subcommands of the command, and no others.
  @Test func theReferenceListsTheSubcommands() throws {
    let lines = try #require(Repository.text("docs/commands.md")).split(separator: "\n")
    for command in RootCommand.configuration.subcommands where !command.configuration.subcommands.isEmpty {
      let name = command.configuration.commandName ?? ""
      let row = try #require(lines.first { $0.hasPrefix("| `transfers \(name)") }, "\(name)")
      let words = row.dropFirst("| `transfers \(name)".count).prefix { $0 != "`" }
        .replacing("\\|", with: " ").split(separator: " ").map(String.init)
      var names: Set<String> = []
      for subcommand in command.configuration.subcommands { names.insert(subcommand.configuration.commandName ?? "") }
      #expect(Set(words) == names, "\(name)")
    }
  }

  /// Every command has a one-line description, and `--help` lists every command.
  @Test func helpListsTheCommands() {
    let help = RootCommand.helpMessage()
    for command in RootCommand.configuration.subcommands {
      let name = command.configuration.commandName ?? ""
      #expect(help.contains("\n  \(name)"), "\(name)")
      #expect(command.configuration.abstract.hasSuffix("."), "\(name)")
    }
  }

  private static let code = ["Sources", "Tests", "tools", "migrations"].flatMap { Repository.files(under: $0) }

  /// Unfinished work belongs in an issue, not in the code.
  @Test func nothingIsMarkedUnfinished() {
    let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK:"]
    for file in Self.code
    where file.hasSuffix(".swift") || file.hasSuffix(".sql") || file.hasSuffix(".c") || file.hasSuffix(".h") {
      for mark in marks { #expect(!(Repository.text(file) ?? "").contains(mark), "\(mark) in \(file)") }
    }
  }

  /// With this mutex, the thread sanitizer of Swift 6.3.1 reports false races; use `Lock` instead.
  @Test func noMutexOfTheStandardLibrary() {
    for file in Self.code where file.hasPrefix("Sources/") && file.hasSuffix(".swift") {
      let code = Repository.lines(file).filter { !$0.drop { $0 == " " }.hasPrefix("//") }
      #expect(!code.contains { $0.contains("Mutex" + "<") || $0.contains("Mutex" + "(") }, "\(file)")
    }
  }

  /// Files should have 80 to 250 lines, and at most 300. Tests may be longer, because they contain lists of cases.
  @Test func filesAreShort() {
    for file in Self.code where file.hasPrefix("Sources/") && file.hasSuffix(".swift") {
      #expect(Repository.lines(file).count <= 300, "\(file)")
    }
  }
}
