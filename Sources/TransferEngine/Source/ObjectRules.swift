public import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Rules for the properties of objects, in the given order. For each setting, the first rule that matches the path of a
/// file relative to the base decides.
public struct ObjectRules: Sendable {
  private let rules: [(glob: PathGlob, rule: ObjectRule)]
  /// Objects get the permissions, or the owner and group, of their files as metadata, unless a rule sets it.
  private let keepsMode: Bool
  private let keepsOwner: Bool

  public init(_ rules: [ObjectRule] = [], keepsMode: Bool = false, keepsOwner: Bool = false) {
    self.rules = rules.map { (PathGlob($0.pattern), $0) }
    (self.keepsMode, self.keepsOwner) = (keepsMode, keepsOwner)
  }

  /// The first rule whose pattern matches no file, and why; nil if there is none.
  public var problem: (rule: ObjectRule, cause: String)? {
    for (glob, rule) in rules {
      if let problem = glob.problem { return (rule, problem.cause) }
      if glob.matchesDirectoriesOnly { return (rule, "it matches folders, but rules are for files; end it with /**") }
    }
    return nil
  }

  /// The properties of the object of a file with this mode, whose path relative to the base is `relative`; nil if there
  /// are none.
  func properties(of path: BorrowedName, _ relative: BorrowedName, mode: UInt32) -> ObjectProperties? {
    guard !rules.isEmpty || keepsMode || keepsOwner else { return nil }
    let name = NameBytes(Array(relative))
    var values: [String: String] = [:]
    for (glob, rule) in rules where values[rule.setting] == nil && glob.matches(name, isDirectory: false) {
      values[rule.setting] = rule.value
    }
    for field in access(of: path, mode: mode).fields where values[ObjectSetting.header(field.name).name] == nil {
      values[ObjectSetting.header(field.name).name] = field.value
    }
    return values.isEmpty ? nil : ObjectProperties(values)
  }

  private func access(of path: BorrowedName, mode: UInt32) -> FileAccess {
    var access = FileAccess(mode: keepsMode ? mode : nil)
    guard keepsOwner else { return access }
    var status = stat()
    let isRead = NameBytes(Array(path)).withCString { stat($0, &status) } == 0
    if isRead { (access.owner, access.group) = (status.st_uid, status.st_gid) }
    return access
  }
}
