import TransferModel

/// The variables that the configuration of a callback passes to its program explicitly. A program may print their
/// values, which are not recorded.
struct CallbackVariables {
  /// Those that references in its settings name, which hold secrets.
  private let referenced: Set<String>
  /// Those that the words of its command name, whatever they hold.
  private let named: Set<String>
  /// What its command assigns itself: `env NAME=VALUE PROGRAM`.
  private let assigned: [String]

  /// - Parameter words: the program and its arguments.
  /// - Parameter settings: those of the batch that is reported; nil for none.
  init(_ words: [String], _ settings: BatchSettings?) {
    referenced = (try? settings?.referencedVariables) ?? []
    named = Set(words.flatMap(Self.names(in:)))
    assigned = Self.assigned(by: words)
  }

  /// Values that are secrets.
  var secrets: [String] { Environment.secrets(andOf: referenced) }

  /// Values that may be anything.
  var others: [String] { named.compactMap { Environment.value($0) } + assigned }

  /// `$NAME` and `${NAME}` in a word that a shell or another program expands.
  static func names(in word: String) -> [String] {
    word.split(separator: "$", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
      let name = rest.drop { $0 == "{" }.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      return name.isEmpty ? nil : String(name)
    }
  }

  /// What `env` assigns before it starts the program. Source: env(1) of GNU coreutils 9.1.
  static func assigned(by words: [String]) -> [String] {
    guard words.first?.split(separator: "/").last == "env" else { return [] }
    var (values, rest): ([String], ArraySlice<String>) = ([], words.dropFirst())
    while let word = rest.popFirst() {
      if word.hasPrefix("-") {
        if ["-u", "-C", "--unset", "--chdir"].contains(word) { rest = rest.dropFirst() }
      } else if let mark = word.firstIndex(of: "="), mark > word.startIndex {
        values.append(String(word[mark...].dropFirst()))
      } else {
        break
      }
    }
    return values
  }
}
