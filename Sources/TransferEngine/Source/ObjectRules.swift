public import TransferModel

/// Rules for the properties of objects, in the given order. For each setting, the first rule that matches the path of a
/// file relative to the base decides.
public struct ObjectRules: Sendable {
  private let rules: [(glob: PathGlob, rule: ObjectRule)]

  public init(_ rules: [ObjectRule] = []) { self.rules = rules.map { (PathGlob($0.pattern), $0) } }

  /// The first rule whose pattern matches no file, and why; nil if there is none.
  public var problem: (rule: ObjectRule, cause: String)? {
    for (glob, rule) in rules {
      if let cause = glob.problem { return (rule, cause) }
      if glob.matchesDirectoriesOnly { return (rule, "it matches folders, but rules are for files; end it with /**") }
    }
    return nil
  }

  /// nil if no rule matches.
  func properties(of path: BorrowedName) -> ObjectProperties? {
    guard !rules.isEmpty else { return nil }
    let path = NameBytes(Array(path))
    var values: [String: String] = [:]
    for (glob, rule) in rules where values[rule.setting] == nil && glob.matches(path, isDirectory: false) {
      values[rule.setting] = rule.value
    }
    return values.isEmpty ? nil : ObjectProperties(values)
  }
}
