import FoundationEssentials
import TransferModel
import TransferReports

/// What a command found out: a value with several renderings.
protocol OutputValue: Encodable {
  /// Name and number of the JSON form: `transfers.status/1`. Fields may be added within a number, never renamed.
  static var schema: String { get }
  /// For people, with a final newline; empty when there is nothing to say.
  func text(_ style: TextStyle) -> String
  /// The rows that the value is about, if it is a table; else csv and tsv have a line with key and value a figure.
  var table: FigureTable? { get }
}

extension OutputValue {
  var table: FigureTable? { nil }
}

/// The ledger that a document speaks of.
struct StoreIdentity: Encodable, Sendable {
  var path: Cell
  var uid: Cell
  var schemaVersion: Cell

  /// Of a ledger that could not be opened, or does not exist yet.
  init(path: String?) {
    self.path = path.map { .name(NameBytes($0)) } ?? .none
    uid = .none
    schemaVersion = .none
  }
}

/// The one document of a command with `--json`; in ndjson the same is one record.
struct Envelope<Data: Encodable>: Encodable {
  let schema: String
  let generatedAt: Cell
  let store: StoreIdentity
  let filters: [String: Cell]
  let data: Data
  var type: String?
}

/// JSON text: sorted keys in snake case, numbers as numbers, one line.
enum JSONText {
  /// The same document without characters that drive or reorder a terminal. They can only stand inside of strings.
  static func harmless(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(where: { $0 >= 0x7F }) else { return bytes }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if scalar.value < 0x7F || SeparatedRow.isHarmless(scalar) {
        out.append(contentsOf: UTF8.encode(scalar)!)
      } else {
        let hex = String(scalar.value, radix: 16)
        out.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - hex.count))\(hex)".utf8)
      }
    }
    return out
  }

  static func encode(_ value: some Encodable) throws(CommandFailure) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    do {
      return Array(try encoder.encode(value))
    } catch {
      throw CommandFailure(.error, code: "bug", "encode output: \(printable("\(error)"))")
    }
  }
}
