import TransferModel
import TransferReports
import Transfers

/// The URL of a named place: its fields are filled in when it is used, and a path is appended.
enum ConfigURL {
  /// Words before a colon that name a protocol.
  static let schemes: Set<String> = Set(
    ["http", "https", "file", "ftp", "sftp", "gs", "az"]
      + ProtocolCatalog.all.flatMap { protocolInUse in
        [protocolInUse.name] + protocolInUse.destination.split(separator: ":").prefix(1).map(String.init)
      })

  /// The error of a URL in a configuration; nil if it is valid.
  static func problem(_ url: String) -> String? {
    guard let scheme = url.firstRange(of: "://") else { return "\"url\" has no scheme: https://…, s3://…" }
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if authority.contains("@") { return "a URL must not contain credentials; use auth: basic=file:PATH" }
    return ConfigFields.problem(url)
  }

  /// Appends `sub` to the path of `url`, or inserts it before its `{path}` or `{name}`.
  /// - Throws: `.usage` for a path that would change more than the path.
  static func joined(_ url: String, _ sub: String) throws(CommandFailure) -> String {
    guard !sub.isEmpty else { return url }
    let parts = sub.split(separator: "/", omittingEmptySubsequences: false)
    guard !parts.contains(".."), !sub.hasPrefix("/"), !sub.contains(where: { "?#{}\\".contains($0) }) else {
      throw .usage(
        "\"\(EscapedArgument.shown(sub))\" is not a path below a destination",
        remedy: "NAME:sub/path without a leading slash, \"..\", \"?\", \"#\" and braces")
    }
    for field in ["{path}", "{name}"] {
      guard let place = url.firstRange(of: field) else { continue }
      return url[..<place.lowerBound] + sub + (sub.hasSuffix("/") ? "" : "/") + url[place.lowerBound...]
    }
    let path = url.prefix { $0 != "?" && $0 != "#" }
    return path + (path.hasSuffix("/") ? "" : "/") + sub + url[path.endIndex...]
  }
}

/// Fields of URLs and names in a configuration, in braces. `{path}` and `{name}` are the destination's own.
struct ConfigFields: Sendable {
  var job: String?
  var batch: String?
  var labels: [String: String] = [:]
  /// The time for date fields, in UTC.
  let wallMs: Int64

  static let ofDate = ["date", "year", "month", "day"]
  private static let known = ofDate + ["batch", "job"]
  private static let ofDestination: Set<Substring> = ["path", "name"]

  /// The error in a text; nil if it is valid.
  static func problem(_ text: String) -> String? {
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { return "\"{\" without \"}\"" }
      let name = rest[rest.index(after: open)..<close]
      let isLabel = name.hasPrefix("label.") && name.count > "label.".count
      guard isLabel || ofDestination.contains(name) || known.contains(String(name)) else {
        return "unknown field \"{\(name)}\": \(known.map { "{\($0)}" }.joined(separator: ", ")), {label.KEY}, {path}"
      }
      rest = rest[close...].dropFirst()
    }
    return nil
  }

  /// The text with plain sample values for its fields.
  static func sample(_ text: String) -> String {
    let fields = text.split(separator: "{").dropFirst().map { $0.prefix { $0 != "}" } }
    return fields.filter { !ofDestination.contains($0) }.reduce(text) { $0.replacing("{\($1)}", with: "x") }
  }

  /// The text with its fields filled in. Values have only letters, digits, `-`, `.`, `_` and `~`, so that they cannot
  /// change the structure of a URL.
  /// - Throws: `.usage` for a field without a value, or with other characters.
  func fill(_ text: String) throws(CommandFailure) -> String {
    var (out, rest) = ("", text[...])
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = rest[rest.index(after: open)..<close]
      out += rest[..<open]
      out += Self.ofDestination.contains(name) ? "{\(name)}" : try value(String(name))
      rest = rest[close...].dropFirst()
    }
    return out + rest
  }

  private func value(_ name: String) throws(CommandFailure) -> String {
    let date = Timestamp.rfc3339(wallMs).prefix(10)
    let found: String? =
      switch name {
      case "date": String(date)
      case "year": String(date.prefix(4))
      case "month": String(date.dropFirst(5).prefix(2))
      case "day": String(date.suffix(2))
      case "batch": batch
      case "job": job
      default: name.hasPrefix("label.") ? labels[String(name.dropFirst("label.".count))] : nil
      }
    guard let found else {
      let remedy = name == "batch" ? "--name NAME" : name == "job" ? "transfers job run NAME" : "--label KEY=VALUE"
      throw .usage("the destination uses {\(printable(name))}, which has no value", remedy: remedy)
    }
    let isPlain = found.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
      default: false
      }
    }
    guard isPlain, !found.isEmpty, found != ".", found != ".." else {
      throw .usage(
        "{\(printable(name))} is \"\(EscapedArgument.shown(found))\", which is not allowed in a URL",
        remedy: "letters, digits, \"-\", \".\", \"_\" and \"~\"")
    }
    return found
  }
}
