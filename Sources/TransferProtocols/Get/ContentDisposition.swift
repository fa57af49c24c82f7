import TransferModel

/// The file name that a server sends in `Content-Disposition` (RFC 6266), sanitized for any folder. A malformed field
/// gives no name: other parsers may read something in it that was not meant.
enum ContentDisposition {
  static func name(_ field: String?) -> String? {
    guard let field, field.utf8.count <= 4_096, let parameters = parameters(field) else { return nil }
    let extended = parameters["filename*"].flatMap(extendedValue)
    return (extended ?? parameters["filename"]).flatMap(sanitized)
  }

  // MARK: - Reading

  /// The parameters after the disposition type, by lower-case names; nil for a malformed field.
  private static func parameters(_ field: String) -> [String: String]? {
    var rest = Array(field.unicodeScalars)[...]
    skipBlanks(&rest)
    guard !token(&rest).isEmpty else { return nil }
    var found: [String: String] = [:]
    while true {
      skipBlanks(&rest)
      guard let separator = rest.popFirst() else { return found }
      guard separator == ";" else { return nil }
      skipBlanks(&rest)
      // A trailing semicolon is common, and harmless.
      if rest.isEmpty { return found }
      let name = token(&rest).lowercased()
      skipBlanks(&rest)
      guard !name.isEmpty, rest.popFirst() == "=" else { return nil }
      skipBlanks(&rest)
      guard let value = rest.first == "\"" ? quoted(&rest) : filled(token(&rest)),
        found.updateValue(value, forKey: name) == nil
      else { return nil }
    }
  }

  private static func skipBlanks(_ rest: inout ArraySlice<Unicode.Scalar>) {
    rest = rest.drop { $0 == " " || $0 == "\t" }
  }

  /// A token of RFC 9110 section 5.6.2, also with the non-ASCII letters that servers send unencoded.
  private static func token(_ rest: inout ArraySlice<Unicode.Scalar>) -> String {
    let token = rest.prefix {
      $0.value > 0x20 && $0.value != 0x7F && !"()<>@,;:\\\"/[]?={}".unicodeScalars.contains($0)
    }
    rest = rest[token.endIndex...]
    return text(token)
  }

  private static func quoted(_ rest: inout ArraySlice<Unicode.Scalar>) -> String? {
    var value = ArraySlice<Unicode.Scalar>()
    rest = rest.dropFirst()
    while let next = rest.popFirst() {
      switch next {
      case "\"": return text(value)
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        value.append(escaped)
      default: value.append(next)
      }
    }
    return nil
  }

  private static func filled(_ text: String) -> String? { text.isEmpty ? nil : text }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  /// `UTF-8'en'a%20b` (RFC 8187 section 3.2); nil for other charsets and for invalid bytes.
  private static func extendedValue(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = PercentEncoding.decode(parts[2].utf8) else { return nil }
    switch parts[0].lowercased() {
    case "utf-8": return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1": return text(bytes.map { Unicode.Scalar($0) }[...])
    default: return nil
    }
  }

  // MARK: - Sanitizing

  /// Device names of Windows, which no file can have there, whatever extension follows.
  private static let devices: Set<String> = Set(
    ["con", "prn", "aux", "nul", "clock$"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] })

  /// `NAME_MAX` of Linux, in bytes.
  private static let longest = 255

  /// One path component: without folders, not hidden, without characters that are valid only on some systems or that
  /// are displayed as something else. nil if nothing is left.
  static func sanitized(_ name: String) -> String? {
    let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
    var kept = String.UnicodeScalarView()
    for scalar in last where !isHidden(scalar) {
      kept.append("<>:\"|?*".unicodeScalars.contains(scalar) ? "_" : scalar)
    }
    let isEdge = { (scalar: Unicode.Scalar) in scalar == "." || scalar.properties.isWhitespace }
    var scalars = Array(kept)[...]
    scalars = scalars.drop(while: isEdge)
    while let end = scalars.last, isEdge(end) { scalars = scalars.dropLast() }
    let stem = text(scalars.prefix { $0 != "." }).lowercased()
    let bare = stem.reversed().drop { $0 == " " }.reversed()
    guard !scalars.isEmpty, !devices.contains(String(bare)) else { return nil }
    return shortened(text(scalars))
  }

  /// Control characters, and those that change the direction or the appearance of adjacent ones.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Shortens the name, keeping its extension if that is short.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > longest else { return name }
    let dot = name.unicodeScalars.lastIndex(of: ".") ?? name.endIndex
    let ending = name[dot...].utf8.count <= 16 ? name[dot...] : ""
    var stem = name[..<(ending.isEmpty ? name.endIndex : dot)].unicodeScalars
    while stem.reduce(0, { $0 + UTF8.width($1) }) + ending.utf8.count > longest { stem.removeLast() }
    return String(stem) + ending
  }
}
