import ArgumentParser
import FoundationEssentials
import Testing
import TransferReports

@testable import TransfersCLI

@Suite struct HelpTests {
  let program: BuiltProgram

  init() throws { program = try BuiltProgram() }

  @Test(arguments: HelpTopic.all.map(\.name) + ["", "push", "store check", "ls"])
  func everyPageIsThereInEveryForm(_ topic: String) throws {
    let words = ["help"] + topic.split(separator: " ").map(String.init)
    let text = try run(words)
    #expect(text.code == 0)
    #expect(text.out.count > 200)
    let widest = text.out.split(separator: "\n").map { DisplayWidth.of($0) }.max() ?? 0
    #expect(HelpTopic.named(topic) == nil || widest <= 130)
    for format in OutputFormat.allCases {
      let outcome = try run(words + ["--format", format.rawValue])
      #expect(outcome.code == 0)
      #expect(outcome.err.isEmpty)
      guard format == .json else { continue }
      let page = try JSONDecoder().decode(Document.self, from: Data(outcome.out.utf8))
      #expect(page.data.text == text.out)
      #expect(page.data.topic == topic)
    }
  }

  private struct Document: Decodable {
    struct Page: Decodable { let topic, text: String }
    let data: Page
  }

  @Test(arguments: [
    ("selectros", #"no command or topic "selectros". Try: transfers help selectors"#),
    ("store chekc", #"no command or topic "store chekc""#), ("xyzzy", #""xyzzy". Try: transfers help"#),
    ("json push", #""json push". Try: transfers help json"#),
  ])
  func whatIsNotThereIsWrongUse(_ topic: String, _ part: String) throws {
    let outcome = try run(["help"] + topic.split(separator: " ").map(String.init))
    #expect(outcome.code == 64)
    #expect(outcome.err.contains(part), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count == 1)
  }

  @Test func theOverviewNamesEveryCommandAndTopic() throws {
    let out = try run(["help"]).out
    for topic in HelpTopic.all { #expect(out.contains("\n  \(topic.name) ")) }
    let rows = try run(["help", "--format", "tsv"]).out
    for (name, _) in RootCommand.leafNames { #expect(rows.contains("\n\(name)\tcommand\t")) }
    for topic in HelpTopic.all { #expect(rows.contains("\n\(topic.name)\ttopic\t")) }
  }

  /// The page is generated from the parser's options; ``ArgumentLineTests`` tests that the variables are read.
  @Test func everyVariableIsDocumented() throws {
    let text = try run(["help", "environment"]).out
    let rows = try run(["help", "environment", "--format", "tsv"]).out
    for (name, command) in RootCommand.leafNames {
      for option in OptionList(of: command).options {
        let variable = EnvironmentOptions.variable(option.long)
        let isRead = !option.mustBeTyped
        if isRead { #expect(text.contains("\n  \(variable) "), "\(variable)") }
        let row = rows.split(separator: "\n").first { $0.hasPrefix(variable + "\t") }
        #expect((row?.split(separator: "\t")[3].split(separator: ",").contains(name[...]) ?? false) == isRead)
      }
    }
  }

  @Test func rowsOfACommandAreItsOptions() throws {
    let rows = try run(["help", "run", "--format", "tsv", "--columns", "option,short,value,variable"]).out
    #expect(rows.contains("\n--rate\t\tbytes/s\tTRANSFERS_RATE\n"))
    #expect(rows.contains("\n--quiet\t-q\t\tTRANSFERS_QUIET\n"))
  }

  /// An example can be pasted as it is shown: the parser wraps longer lines at column 80, without their indentation.
  @Test func noExampleOrTableIsTorn() {
    for (name, command) in RootCommand.leafNames {
      let text = command.configuration.discussion
      for line in text.split(separator: "\n") where line.hasPrefix(" ") {
        #expect(DisplayWidth.of(line) <= 78, "\(name): \(line)")
      }
      let help = RootCommand.helpMessage(for: command, columns: 80)
      // The usage is one line, which a terminal wraps; all options are listed below it.
      for line in help.split(separator: "\n") where !line.hasPrefix("USAGE: ") {
        #expect(DisplayWidth.of(line) <= 80, "\(name): \(line)")
      }
    }
  }

  /// A line of an example that continues ends with a backslash, and the next one is indented further.
  @Test func examplesContinueWithABackslash() {
    for (name, command) in RootCommand.leafNames {
      let lines = command.configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
      for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("  transfers ") {
        #expect(line.hasSuffix(" \\") == next.hasPrefix("    "), "\(name): \(line)")
      }
    }
  }

  @Test func noDefaultIsPrintedTwice() {
    for (name, command) in RootCommand.leafNames {
      let words = RootCommand.helpMessage(for: command, columns: 100_000).split(separator: "\n")
      for line in words { #expect(line.ranges(of: "(default: ").count <= 1, "\(name): \(line)") }
    }
  }

  @Test func onlyAcceptedFormatsOfAListAreOffered() {
    for (name, command) in RootCommand.leafNames where ["push", "add", "manifest build"].contains(name) {
      let option = OptionList(of: command).option(long: "list-format")
      #expect(option?.values.sorted() == ["csv", "jsonl", "list", "sums"], "\(name)")
    }
  }

  private func run(_ words: [String]) throws -> BuiltProgram.Outcome { try program.run(words.map { Array($0.utf8) }) }
}
