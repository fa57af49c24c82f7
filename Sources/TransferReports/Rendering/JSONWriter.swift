import TransferModel

/// Writes figures as JSON text: keys sorted, numbers as numbers, times as RFC 3339 UTC, one line. Written by hand,
/// because lists may have millions of rows.
package enum JSONWriter {
  /// The document of a report; in ndjson it is one record with its `type`.
  package static func document(_ data: FigureTree, schema: String, _ header: ReportHeader, type: String? = nil)
    -> [UInt8]
  {
    var members = header.members(schema: schema) + [FigureTree.Member("data", data)]
    if let type { members.append(FigureTree.Member("type", .figure(.text(type)))) }
    return bytes(.object(members)) + [0x0A]
  }

  package static func bytes(_ tree: FigureTree) -> [UInt8] {
    var out: [UInt8] = []
    append(tree, to: &out)
    return out
  }

  package static func append(_ tree: FigureTree, to out: inout [UInt8]) {
    switch tree {
    case .figure(let cell): append(cell, to: &out)
    case .array(let elements):
      out.append(0x5B)
      for (index, element) in elements.enumerated() {
        if index > 0 { out.append(0x2C) }
        append(element, to: &out)
      }
      out.append(0x5D)
    case .object(let members):
      append(members.flatMap { [$0] + ($0.exactBytes.map { [$0] } ?? []) }, to: &out)
    }
  }

  package static func append(_ object: FigureObject, to out: inout [UInt8]) { append(FigureTree(object), to: &out) }

  /// A single cell.
  package static func text(_ cell: Cell) -> String {
    var out: [UInt8] = []
    append(cell, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  private static func append(_ members: [FigureTree.Member], to out: inout [UInt8]) {
    out.append(0x7B)
    for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
      if index > 0 { out.append(0x2C) }
      append(member.key, to: &out)
      out.append(0x3A)
      append(member.value, to: &out)
    }
    out.append(0x7D)
  }

  private static func append(_ cell: Cell, to out: inout [UInt8]) {
    switch cell {
    case .none: out.append(contentsOf: "null".utf8)
    case .text(let text): append(text, to: &out)
    case .name(let name): append(String(decoding: name.bytes, as: UTF8.self), to: &out)
    case .integer(let number), .bytes(let number), .milliseconds(let number), .bytesPerSecond(let number):
      out.append(contentsOf: String(number).utf8)
    case .real(let number), .share(let number), .points(let number), .percent(let number):
      out.append(contentsOf: (number.isFinite ? Cell.plain(number) : "null").utf8)
    case .flag(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
    case .time(let ms): append(Timestamp.rfc3339(ms), to: &out)
    case .texts(let texts): append(texts.map { FigureTree.Member($0.key, .figure(.text($0.value))) }, to: &out)
    case .counts(let counts): append(counts.map { FigureTree.Member($0.key, .figure(Cell($0.value))) }, to: &out)
    case .list(let texts): append(.array(texts.map { .figure(.text($0)) }), to: &out)
    }
  }

  private static func append(_ text: String, to out: inout [UInt8]) {
    var text = text
    text.withUTF8 { bytes in
      out.append(0x22)
      if bytes.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
        for byte in bytes { appendEscaped(byte, to: &out) }
      } else {
        out.append(contentsOf: bytes)
      }
      out.append(0x22)
    }
  }

  /// Source: RFC 8259 section 7.
  private static func appendEscaped(_ byte: UInt8, to out: inout [UInt8]) {
    switch byte {
    case 0x22, 0x5C: out += [0x5C, byte]
    case 0x08: out += [0x5C, 0x62]
    case 0x09: out += [0x5C, 0x74]
    case 0x0A: out += [0x5C, 0x6E]
    case 0x0C: out += [0x5C, 0x66]
    case 0x0D: out += [0x5C, 0x72]
    case 0..<0x20: out.append(contentsOf: "\\u00\(hexText([byte]))".utf8)
    default: out.append(byte)
    }
  }

  /// The same document without characters that control or reorder terminal text. They can only occur in strings.
  package static func harmless(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(where: { $0 >= 0x7F }) else { return bytes }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if scalar.value < 0x7F || SeparatedRow.isHarmless(scalar) {
        out.append(contentsOf: UTF8.encode(scalar)!)
      } else {
        let hex = String(scalar.value, radix: 16)
        out.append(contentsOf: "\\u\(String(repeating: "0", count: max(0, 4 - hex.count)))\(hex)".utf8)
      }
    }
    return out
  }
}
