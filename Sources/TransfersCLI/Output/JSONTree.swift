import FoundationEssentials
import TransferModel

/// A JSON value of any shape: what a document holds, to choose members of it and to lay it out as keys and values.
enum JSONTree: Codable, Sendable, Hashable {
  case null
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case array([JSONTree])
  case object([String: JSONTree])

  init(_ value: some Encodable) throws(CommandFailure) {
    let bytes = try JSONText.encode(value)
    do {
      self = try JSONDecoder().decode(JSONTree.self, from: Data(bytes))
    } catch {
      throw CommandFailure(.error, code: "bug", "read the JSON that was just written")
    }
  }

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

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .flag(let flag): try container.encode(flag)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .array(let array): try container.encode(array)
    case .object(let members): try container.encode(members)
    }
  }

  /// Every figure with its path, `files.done` or `chunks.0.id`, sorted as JSON is; what is empty has no line.
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

  /// Only the members that `paths` name (`files` or `files.done`). A path that is not there is wrong use.
  func choosing(_ paths: [String]) throws(CommandFailure) -> JSONTree {
    if case .array(let array) = self { return .array(try Self.each(array, paths)) }
    guard case .object(let members) = self else { throw UnknownColumn.failure(paths.joined(separator: ","), known: []) }
    var chosen: [String: JSONTree] = [:]
    for path in paths {
      let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
      guard let name = parts.first, let member = members[name] else {
        throw UnknownColumn.failure(path, known: members.keys.sorted())
      }
      let wanted = parts.count == 1 ? member : try member.choosing([parts[1]])
      chosen[name] = chosen[name].map { $0.merging(wanted) } ?? wanted
    }
    return .object(chosen)
  }

  private static func each(_ array: [JSONTree], _ paths: [String]) throws(CommandFailure) -> [JSONTree] {
    var chosen: [JSONTree] = []
    for element in array { chosen.append(try element.choosing(paths)) }
    return chosen
  }

  private func merging(_ other: JSONTree) -> JSONTree {
    if case .array(let own) = self, case .array(let others) = other {
      return .array(zip(own, others).map { $0.merging($1) })
    }
    guard case .object(let own) = self, case .object(let others) = other else { return other }
    return .object(own.merging(others) { $0.merging($1) })
  }
}

/// `--columns` named something that this result does not have.
enum UnknownColumn {
  static func failure(_ name: String, known: [String]) -> CommandFailure {
    .usage(
      "no column \"\(printable(name))\" here",
      remedy: known.isEmpty ? "leave out --columns" : "some of " + known.joined(separator: ","))
  }
}
