/// A JSON value of any shape, read by a decoder that is independent of the writer.
enum JSONTree: Decodable, Sendable, Hashable {
  case null
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case array([JSONTree])
  case object([String: JSONTree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let array = try? container.decode([JSONTree].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  /// Every value with its path, such as `files.done` or `chunks.0.id`, sorted as in JSON; empty containers are omitted.
  func leaves(_ path: String = "") -> [(key: String, value: String)] {
    func below(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    return switch self {
    case .null: [(path, "")]
    case .flag(let flag): [(path, flag ? "true" : "false")]
    case .integer(let integer): [(path, String(integer))]
    case .number(let number): [(path, String(number))]
    case .text(let text): [(path, text)]
    case .array(let array): array.enumerated().flatMap { $1.leaves(below(String($0))) }
    case .object(let members):
      members.sorted { $0.key < $1.key }.flatMap { $0.value.leaves(below($0.key)) }
    }
  }
}
