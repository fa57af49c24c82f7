import TransferModel

/// Rows as CSV or TSV. Numbers are plain, times RFC 3339 UTC, unknown figures empty, labels a JSON object. Each column
/// of names is followed by a column `<key>_b64` with the exact bytes of names that are not UTF-8, as in JSON.
///
/// A cell that begins with `=`, `+`, `-` or `@` is written unchanged: these files are for programs and audits, and a
/// quote before it would change the name. In a spreadsheet, import the columns as text.
package struct SeparatedRow: Sendable {
  package enum Form: Sendable { case csv, tsv }

  package let form: Form
  /// On a terminal, control characters in CSV are replaced by U+FFFD (`ls` prints `?`), so that a hostile name cannot
  /// control it.
  package var isForTerminal: Bool

  package init(form: Form, isForTerminal: Bool = false) { (self.form, self.isForTerminal) = (form, isForTerminal) }

  /// The header line of a table.
  package func append(_ headings: [FigureHeading], to out: inout [UInt8]) {
    append(headings.flatMap { $0.isName ? [$0.key, $0.key + "_b64"] : [$0.key] }, to: &out)
  }

  package func append(_ row: [Cell], _ headings: [FigureHeading], to out: inout [UInt8]) {
    var fields: [String] = []
    fields.reserveCapacity(row.count + 2)
    for (heading, cell) in zip(headings, row) {
      fields.append(cell.plainText)
      if heading.isName { fields.append(Self.exactBytes(cell)) }
    }
    append(fields, to: &out)
  }

  /// One record.
  package func append(_ fields: [String], to out: inout [UInt8]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { out.append(form == .csv ? 0x2C : 0x09) }
      append(field, to: &out)
    }
    // RFC 4180 section 2.1 ends a record with CRLF; text/tab-separated-values ends it with the line.
    if form == .csv { out.append(0x0D) }
    out.append(0x0A)
  }

  private func append(_ field: String, to out: inout [UInt8]) {
    var field = field
    field.withUTF8 { bytes in
      switch form {
      case .csv where isForTerminal && bytes.contains { $0 < 0x20 || $0 >= 0x7F }:
        Self.appendQuoted(Array(Self.harmless(bytes).utf8), to: &out)
      case .csv: Self.appendQuoted(bytes, to: &out)
      case .tsv where isForTerminal && bytes.contains { $0 >= 0x80 }:
        Self.appendEscaped(Self.harmless(bytes, butASCII: true).utf8, to: &out)
      case .tsv: Self.appendEscaped(bytes, to: &out)
      }
    }
  }

  /// Source: RFC 4180 section 2.5 to 2.7. Spaces at the ends are quoted too, because some readers trim them.
  private static func appendQuoted(_ bytes: some BidirectionalCollection<UInt8>, to out: inout [UInt8]) {
    let needsQuotes =
      bytes.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x2C } || bytes.first == 0x20 || bytes.last == 0x20
    guard needsQuotes else { return out.append(contentsOf: bytes) }
    out.append(0x22)
    for byte in bytes {
      if byte == 0x22 { out.append(0x22) }
      out.append(byte)
    }
    out.append(0x22)
  }

  /// - Parameter keepsASCII: for TSV, which escapes ASCII controls itself.
  private static func harmless(_ bytes: UnsafeBufferPointer<UInt8>, butASCII keepsASCII: Bool = false) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    let scalars = text.unicodeScalars.map { keepsASCII && $0.isASCII || isHarmless($0) ? $0 : "\u{FFFD}" }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Lines of any format without characters that control or reorder the text of a terminal.
  package static func harmlessLines(_ bytes: [UInt8]) -> [UInt8] {
    let text = String(decoding: bytes, as: UTF8.self)
    let scalars = text.unicodeScalars.map { ["\r", "\n"].contains($0) || isHarmless($0) ? $0 : "\u{FFFD}" }
    return Array(String(String.UnicodeScalarView(scalars)).utf8)
  }

  /// Excludes C0 and C1 controls (U+009B is a CSI) and characters that reorder or hide text.
  package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: false
    default: true
    }
  }

  private static func appendEscaped(_ bytes: some Sequence<UInt8>, to out: inout [UInt8]) {
    for byte in bytes {
      switch byte {
      case 0x09: out += [0x5C, 0x74]
      case 0x0A: out += [0x5C, 0x6E]
      case 0x0D: out += [0x5C, 0x72]
      case 0x5C: out += [0x5C, 0x5C]
      case 0..<0x20, 0x7F: out.append(contentsOf: "\\x\(hexText([byte]))".utf8)
      default: out.append(byte)
      }
    }
  }

  private static func exactBytes(_ cell: Cell) -> String {
    guard case .name(let name) = cell, name.utf8 == nil else { return "" }
    return base64(name.bytes)
  }
}
