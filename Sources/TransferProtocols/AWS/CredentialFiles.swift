public import TransferModel

/// The shared files of AWS tools, `~/.aws/credentials` and `~/.aws/config`: text in, profiles out. Reads no file.
///
/// Lines are `[section]`, `key = value`, or comments that begin with `#` or `;`. Indented lines are settings nested
/// below the previous key (`s3 =` and the like), none of which is used. Keys are not case-sensitive.
/// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files".
public struct CredentialFiles: Sendable {
  private let credentials: [String: [String: String]]
  private let config: [String: [String: String]]

  /// nil stands for a missing file.
  /// - Throws: `.config` with the line number of the first fault, and never its text.
  public init(credentials: String?, config: String?) throws(TransferError) {
    self.credentials = try Self.sections(credentials ?? "", file: "credentials")
    self.config = try Self.sections(config ?? "", file: "config")
  }

  /// The profile of that name: keys from the credentials file first, then from the config file. nil if neither file
  /// contains it.
  /// - Throws: `.config` if its credential cannot be obtained in the specified way.
  public func profile(_ name: String) throws(TransferError) -> AWSProfile? {
    guard let value = settings(name) else { return nil }
    var profile = AWSProfile()
    profile.accessKey = value("aws_access_key_id")
    profile.secretKey = value("aws_secret_access_key")
    profile.sessionToken = value("aws_session_token") ?? value("aws_security_token")
    profile.region = value("region")
    profile.endpointURL = value("endpoint_url")
    profile.source = try ProfileSource(
      profile: settings,
      session: { name in
        guard let section = config["sso-session \(name)"] else { return nil }
        return { key in section[key].flatMap { $0.isEmpty ? nil : $0 } }
      }
    ).source(of: name)
    return profile
  }

  private func settings(_ name: String) -> ProfileSource.Settings? {
    let first = credentials[name] ?? credentials["profile \(name)"]
    // `[profile default]` takes precedence over `[default]`.
    let second = config["profile \(name)"] ?? (name == "default" ? config["default"] : nil)
    guard first != nil || second != nil else { return nil }
    return { key in [first?[key], second?[key]].compactMap { $0 }.first { !$0.isEmpty } }
  }

  /// Names of all profiles, sorted.
  public var names: [String] {
    let plain = credentials.keys.map { $0.hasPrefix("profile ") ? String($0.dropFirst(8)) : $0 }
    let configured = config.keys.compactMap { key -> String? in
      key == "default" ? key : key.hasPrefix("profile ") ? String(key.dropFirst(8)) : nil
    }
    return Set(plain + configured).sorted()
  }

  // MARK: - Reading

  private static func sections(_ text: String, file: String) throws(TransferError) -> [String: [String: String]] {
    var all: [String: [String: String]] = [:]
    var section: String?
    for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = trimmed(raw)
      if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
      if line.hasPrefix("[") {
        section = try header(line, NameBytes("\(file) line \(index + 1)"))
        all[section!, default: [:]].merge([:]) { old, _ in old }
        continue
      }
      if raw.first == " " || raw.first == "\t" { continue }
      guard let equals = line.firstIndex(of: "="), let name = section else {
        throw fault(
          NameBytes("\(file) line \(index + 1)"),
          section == nil ? "it is before the first [section]" : "it has no \"=\"",
          "write key = value below a [section]")
      }
      all[name]![trimmed(line[..<equals]).lowercased()] = value(line[line.index(after: equals)...])
    }
    return all
  }

  private static func header(_ line: String, _ place: NameBytes) throws(TransferError) -> String {
    guard let end = line.firstIndex(of: "]") else {
      throw fault(place, "a section has no closing bracket", "write [NAME]")
    }
    // `[profile  "a b"]`: any blanks, optional quotes.
    let words = trimmed(line[line.index(after: line.startIndex)..<end])
    for kind in ["profile", "sso-session"] where words.hasPrefix(kind + " ") || words.hasPrefix(kind + "\t") {
      let name = trimmed(words.dropFirst(kind.count + 1))
      let isQuoted = name.count >= 2 && (name.first == "\"" || name.first == "'") && name.last == name.first
      return "\(kind) " + (isQuoted ? String(name.dropFirst().dropLast()) : name)
    }
    return words
  }

  /// A comment may follow a value after a blank.
  private static func value(_ text: Substring) -> String {
    var end = text.endIndex
    var wasBlank = false
    for index in text.indices {
      if wasBlank && (text[index] == "#" || text[index] == ";") {
        end = index
        break
      }
      wasBlank = text[index] == " " || text[index] == "\t"
    }
    return trimmed(text[..<end])
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  private static func fault(_ subject: NameBytes, _ cause: String, _ remedy: String) -> TransferError {
    TransferError(.config, "read AWS profile", subject, cause: cause, remedy: remedy)
  }
}
