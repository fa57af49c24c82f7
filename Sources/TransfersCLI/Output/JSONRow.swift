import TransferModel
import TransferReports

/// Writes a row as JSON without an encoder: lists may have millions of rows. The text is byte for byte what
/// ``JSONText`` makes of the same object, and a test compares them.
enum JSONRow {
  static func append(_ object: FigureObject, to out: inout [UInt8]) {
    var members: [(key: String, cell: Cell)] = []
    members.reserveCapacity(object.fields.count + 2)
    for field in object.fields {
      members.append(field)
      if case .name(let name) = field.cell, name.utf8 == nil {
        members.append((field.key + "_b64", .text(base64(name.bytes))))
      }
    }
    members.sort { $0.key < $1.key }
    out.append(0x7B)
    for (index, member) in members.enumerated() {
      if index > 0 { out.append(0x2C) }
      append(member.key, to: &out)
      out.append(0x3A)
      append(member.cell, to: &out)
    }
    out.append(0x7D)
  }

  /// A cell by itself.
  static func text(_ cell: Cell) -> String {
    var out: [UInt8] = []
    append(cell, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  private static func append(_ cell: Cell, to out: inout [UInt8]) {
    switch cell {
    case .none: out.append(contentsOf: "null".utf8)
    case .text(let text): append(text, to: &out)
    case .name(let name): append(String(decoding: name.bytes, as: UTF8.self), to: &out)
    case .integer(let number), .bytes(let number), .milliseconds(let number), .bytesPerSecond(let number):
      out.append(contentsOf: String(number).utf8)
    case .real(let number): out.append(contentsOf: (number.isFinite ? Cell.plain(number) : "null").utf8)
    case .flag(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
    case .time(let ms): append(Timestamp.rfc3339(ms), to: &out)
    case .texts(let texts): append(FigureObject(texts.map { ($0.key, .text($0.value)) }), to: &out)
    case .counts(let counts): append(FigureObject(counts.map { ($0.key, Cell($0.value)) }), to: &out)
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
}
