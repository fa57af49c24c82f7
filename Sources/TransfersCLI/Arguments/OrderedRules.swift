import TransferModel
import Transfers

/// `--include` and `--exclude` in the typed order: the first matching rule decides, but the parser keeps the order only
/// within one option.
enum OrderedRules {
  /// The rules in `arguments`, which the parser has accepted already: every rule option has a value, as the next
  /// argument or after `=`.
  static func read(_ arguments: [String]) throws(CommandFailure) -> [PathRule] {
    var rules: [PathRule] = []
    var rest = arguments.prefix { $0 != "--" }[...]
    while let argument = rest.popFirst() {
      for (option, kind) in [("--include", PathRule.Kind.include), ("--exclude", .exclude)] {
        if argument == option, let pattern = rest.popFirst() {
          rules.append(PathRule(kind: kind, pattern: pattern))
        } else if argument.hasPrefix(option + "=") {
          rules.append(PathRule(kind: kind, pattern: String(argument.dropFirst(option.count + 1))))
        }
      }
    }
    if rules.contains(where: { EscapedArgument.isEscaped($0.pattern) }) {
      throw .usage("a pattern of --include or --exclude is not UTF-8", remedy: "use ? for such a byte")
    }
    return rules
  }
}
