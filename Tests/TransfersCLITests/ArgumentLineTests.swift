import ArgumentParser
import Testing
import TransferModel

@testable import TransfersCLI

/// Turns arguments and environment into the arguments for the parser.
@Suite struct ArgumentLineTests {
  private func line(_ arguments: String, _ environment: [String: String] = [:]) throws -> ArgumentLine {
    let words = arguments.split(separator: " ").map(String.init)
    return try ArgumentLine(
      Context(
        arguments: words, environment: environment, out: OutputStream(descriptor: -1),
        err: OutputStream(descriptor: -1),
        clock: StillClock(0)))
  }

  @Test(arguments: [
    ("--json list files", "list --json files"), ("--store x.db -q list", "list --store x.db -q"),
    ("store --store=x.db check", "store check --store=x.db"),
    ("-v store --color never path", "store path -v --color never"),
    ("list --json=id,bytes files", "list --json --columns=id,bytes files"),
    ("--json=id list", "list --json --columns=id"), ("push -- --json=a b", "push -- --json=a b"),
    ("ls files", "ls files"), ("--help", "--help"), ("", ""), ("--version", "--version"),
    ("---completion list -- --batch 1 2", "---completion list -- --batch 1 2"),
  ])
  func globalOptionsStandAnywhere(_ typed: String, _ parsed: String) throws {
    #expect(try line(typed).arguments.joined(separator: " ") == parsed)
  }

  @Test(arguments: [
    ("statsu", #"no command "statsu""#, "transfers status"),
    ("store chekc", #"no command "chekc""#, "transfers store check"),
    ("xyzzy", #"no command "xyzzy""#, "transfers --help"), ("--json", "--json needs a command", "transfers --help"),
    ("store -q", "-q needs a command", "transfers store --help"),
    ("--store", "--store needs a command", "transfers --help"),
  ])
  func aCommandMustBeThere(_ typed: String, _ text: String, _ remedy: String) {
    let failure = #expect(throws: CommandFailure.self) { try line(typed) }
    #expect(failure?.text == text)
    #expect(failure?.remedy == remedy)
  }

  /// Covers every declared option: the list comes from the parser, and the commands come from the root command.
  @Test func everyOptionOfEveryCommandHasAVariable() throws {
    for command in RootCommand.leaves {
      // Created once, because the parser generates its complete help for each list.
      let list = OptionList(of: command)
      #expect(list.options.contains { $0.long == "format" }, "\(command)")
      for option in list.options {
        let given = try EnvironmentOptions(
          [EnvironmentOptions.variable(option.long): option.takesValue ? "7" : "yes"], for: { list },
          typed: [])
        let isRead = !option.mustBeTyped && !EnvironmentOptions.readElsewhere.contains(option.long)
        #expect(
          given.settings.flatMap(\.arguments) == (isRead ? ["--\(option.long)" + (option.takesValue ? "=7" : "")] : []))
      }
    }
  }

  @Test(arguments: [
    ("run", ["TRANSFERS_RATE": "5M"], "run --rate=5M"), ("run", ["TRANSFERS_RATE": ""], "run"),
    ("run --rate 1M", ["TRANSFERS_RATE": "5M"], "run --rate 1M"),
    ("run --rate=1M", ["TRANSFERS_RATE": "5M"], "run --rate=1M"),
    ("list", ["TRANSFERS_RATE": "5M"], "list"), ("list", ["TRANSFERS_LAST": "1"], "list --last"),
    ("cancel", ["TRANSFERS_LAST": "1"], "cancel"), ("set --last", ["TRANSFERS_RATE": "5M"], "set --last"),
    ("pause f1", ["TRANSFERS_DRY_RUN": "1"], "pause --dry-run f1"), ("run", ["TRANSFERS_QUIET": "1"], "run --quiet"),
    ("run", ["TRANSFERS_QUIET": "No"], "run"), ("run -v", ["TRANSFERS_QUIET": "1"], "run -v"),
    ("list --json", ["TRANSFERS_FORMAT": "csv"], "list --json"),
    ("list --format=csv", ["TRANSFERS_JSON": "1"], "list --format=csv"),
    ("push a b", ["TRANSFERS_PATH_STYLE": "0"], "push --no-path-style a b"),
    ("push a b", ["TRANSFERS_EXCLUDE": "*.tmp\n*.bak"], "push a b --exclude=*.tmp --exclude=*.bak"),
    ("push --include x a b", ["TRANSFERS_EXCLUDE": "*"], "push --include x a b --exclude=*"),
    ("push --exclude x a b", ["TRANSFERS_EXCLUDE": "*"], "push --exclude x a b"),
    ("push a -- b", ["TRANSFERS_EXCLUDE": "*", "TRANSFERS_RATE": "1M"], "push --rate=1M a --exclude=* -- b"),
    ("push -nq a b", ["TRANSFERS_DRY_RUN": "1"], "push -nq a b"), ("list", ["TRANSFERS_ALL": "1"], "list"),
    ("list", ["TRANSFERS_HELP": "1"], "list"), ("list", ["TRANSFERS_STORE": "/x"], "list"),
    ("store", ["TRANSFERS_FORMAT": "csv"], "store"), ("", ["TRANSFERS_FORMAT": "csv"], ""),
    ("list -- --format", ["TRANSFERS_FORMAT": "csv"], "list --format=csv -- --format"),
  ])
  func theEnvironmentIsBehindWhatIsTyped(_ typed: String, _ environment: [String: String], _ parsed: String) throws {
    #expect(try line(typed, environment).arguments.joined(separator: " ") == parsed)
  }

  @Test(arguments: [
    ("TRANSFERS_RAET", "TRANSFERS_RATE"), ("TRANSFERS_WORKER", "TRANSFERS_WORKERS"),
    ("TRANSFERS_STOER", "TRANSFERS_STORE"),
    ("TRANSFERS_BIN", nil), ("TRANSFERS_RATE", nil), ("TRANSFERS_SOMETHING_ELSE", nil), ("TRANSFERS_ALL", nil),
  ])
  func aSlipOfThePenIsNoticed(_ variable: String, _ meant: String?) throws {
    #expect(try line("list", [variable: "1"]).environment.misspelt()?.meant == meant)
  }

  @Test(arguments: [
    ("store", "stroe", 1), ("a", "", 1), ("", "", 0), ("list", "last", 1), ("ab", "ba", 1), ("abc", "cba", 2),
  ])
  func distances(_ a: String, _ b: String, _ distance: Int) {
    #expect(EditDistance.between(a, b) == distance)
    #expect(EditDistance.between(b, a) == distance)
  }
}
