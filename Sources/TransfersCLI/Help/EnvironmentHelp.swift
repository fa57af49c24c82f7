import TransferModel
import TransferReports

/// `transfers help environment`: the variables of the parser's options, and the few that are read elsewhere.
enum EnvironmentHelp {
  struct Variable: Sendable {
    let name: String
    let option: String
    let takes: String
    let commands: [String]
    let about: String
  }

  private static let columns: [Column<Variable>] = [
    .text("variable", "Variable") { $0.name },
    .text("option", "Option") { $0.option },
    .text("takes") { $0.takes },
    .text("commands") { $0.commands.joined(separator: ",") },
    .text("about", "Meaning") { $0.about },
  ]

  static var table: FigureTable { FigureTable(columns, variables) }

  static var text: String {
    """
    TRANSFERS_<FLAG> sets a flag: TRANSFERS_RATE=20M is --rate 20M, TRANSFERS_DRY_RUN=1 is --dry-run. The command line takes
    precedence over the environment. An empty variable is ignored. A flag takes 1, true, yes or 0, false, no. An option that
    can be repeated takes one value per line; if it is given on the command line, the variable is ignored. A variable is read
    by the commands that have the option, and only where it applies: TRANSFERS_REGION is for S3 and ignored elsewhere.
    No variable sets --all, --columns, --force, --help, --version, or the selection and the changes of a control verb: these
    must be given explicitly. No secret is read from these variables.


    """
      + TwoColumns.text(variables.map { ($0.name, $0.about) }, indent: 2, columns: 118) + """

        Other variables
          XDG_STATE_HOME, HOME    location of the ledger without --store and TRANSFERS_STORE; XDG_STATE_HOME must be an
                                  absolute path
          NO_COLOR                no colour without --color; else FORCE_COLOR, CLICOLOR_FORCE: colour; else a terminal has
                                  colour unless TERM=dumb
          TZ, LC_ALL, LC_CTYPE, LANG, TERM, COLUMNS
                                  time zone of tables; capabilities of the terminal
          AWS_*                   credentials, profile, region and endpoint for S3, as in the AWS tools: keys, roles, web
                                  identity, containers, instances; AWS_EC2_METADATA_DISABLED=true disables the last
          CREDENTIALS_DIRECTORY   the folder of systemd credentials for --auth bearer=credential:NAME
          http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY
                                  as in libcurl: in lower or upper case, but http_proxy only in lower case

        """
  }

  /// One for each option, sorted by name, with the commands that have it.
  static var variables: [Variable] {
    var found: [String: (option: OptionList.Option, commands: [String])] = [:]
    for (name, command) in RootCommand.leafNames {
      for option in OptionList(of: command).options where !option.mustBeTyped {
        found[option.long, default: (option, [])].commands.append(name)
      }
    }
    return found.values.sorted { $0.option.long < $1.option.long }.map { variable($0.option, $0.commands) }
  }

  private static func variable(_ option: OptionList.Option, _ commands: [String]) -> Variable {
    let takes = !option.takesValue ? "flag" : option.isRepeatable ? "lines" : "value"
    return Variable(
      name: EnvironmentOptions.variable(option.long),
      option: "--\(option.long)" + (option.takesValue ? " <\(option.valueName)>" : ""), takes: takes,
      commands: commands,
      about: option.help)
  }
}

/// Names on the left, text on the right in as many lines as it needs.
enum TwoColumns {
  static func text(_ pairs: [(name: String, text: String)], indent: Int, columns: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    let width = pairs.map { DisplayWidth.of($0.name) }.max() ?? 0
    return pairs.map { pair in
      let lines = wrapped(pair.text, to: max(20, columns - indent - width - 2))
      let name = DisplayWidth.pad(pair.name, to: width, alignsRight: false)
      let blank = String(repeating: " ", count: width)
      return zip([name] + Array(repeating: blank, count: max(0, lines.count - 1)), lines).map { head, line in
        "\(margin)\(head)  \(line)\n"
      }.joined()
    }.joined()
  }

  private static func wrapped(_ text: String, to columns: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if DisplayWidth.of(last) + 1 + DisplayWidth.of(word) <= columns {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
