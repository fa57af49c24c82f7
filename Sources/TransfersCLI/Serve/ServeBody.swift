import FoundationEssentials
import HTTPServer
import TransferModel

/// The body of a verb: `{"id": ["f1", "f2"], "now": true}`.
enum ServeBody {
  private enum Value: Decodable {
    case texts([String])
    case flag(Bool)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let flag = try? container.decode(Bool.self) {
        self = .flag(flag)
      } else if let text = try? container.decode(String.self) {
        self = .texts([text])
      } else {
        self = .texts(try container.decode([String].self))
      }
    }
  }

  static func terms(_ body: [UInt8]) throws(CommandFailure) -> [HTTPRequest.Term] {
    guard let members = try? JSONDecoder().decode([String: Value].self, from: Data(body)) else {
      throw .usage("the body is not an object of texts, lists of texts and true", remedy: "{\"id\": [\"f1\"]}")
    }
    guard memberCount(body) == members.count else {
      throw .usage("the body has a member twice", remedy: "a list: {\"id\": [\"f1\", \"f2\"]}")
    }
    for (name, value) in members {
      // No rows are not all rows.
      guard case .texts([]) = value else { continue }
      throw .usage("the list \"\(printable(name))\" is empty", remedy: "{\"all\": true} for everything")
    }
    return members.sorted { $0.key < $1.key }.flatMap { name, value in
      switch value {
      case .texts(let texts): texts.map { HTTPRequest.Term(name, NameBytes($0)) }
      case .flag(let flag): flag ? [HTTPRequest.Term(name, NameBytes(""))] : []
      }
    }
  }

  /// The members of a valid object without objects in it: the decoder drops those whose name occurs again.
  private static func memberCount(_ body: [UInt8]) -> Int {
    var (count, isText, isEscaped) = (0, false, false)
    for byte in body {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isText.toggle()
      } else if isText {
        isEscaped = byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: ":") {
        count += 1
      }
    }
    return count
  }
}
