/// An option of a protocol: its command-line form, and the name under which its value is stored with a batch.
public struct ProtocolOption: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// Given or not.
    case flag
    /// Given, given with the prefix `no-`, or neither.
    case toggle
    case text
    /// Repeatable.
    case list
    /// A number of bytes.
    case bytes
  }

  /// Without dashes.
  public let long: String
  public let kind: Kind
  public let help: String
  /// The placeholder of the value in help; empty for flags.
  public let valueName: String

  package init(_ long: String, _ kind: Kind, _ help: String, valueName: String = "") {
    (self.long, self.kind, self.help, self.valueName) = (long, kind, help, valueName)
  }
}

/// The value of an option; in JSON the plain value.
public enum OptionValue: Sendable, Hashable {
  case flag(Bool)
  case number(Int64)
  case text(String)
  case list([String])
}

extension OptionValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .list(try container.decode([String].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .flag(let flag): try container.encode(flag)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let texts): try container.encode(texts)
    }
  }
}

extension OptionValue: ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral
{
  public init(booleanLiteral value: Bool) { self = .flag(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .number(value) }
  public init(arrayLiteral elements: String...) { self = .list(elements) }
}

/// Values by option; options that were not given are nil, and are not stored.
extension BatchSettings {
  public subscript(flag option: ProtocolOption) -> Bool {
    get { self[toggle: option] ?? false }
    set { self[toggle: option] = newValue ? true : nil }
  }

  public subscript(toggle option: ProtocolOption) -> Bool? {
    get { if case .flag(let flag)? = options[option.long] { flag } else { nil } }
    set { options[option.long] = newValue.map(OptionValue.flag) }
  }

  public subscript(text option: ProtocolOption) -> String? {
    get { if case .text(let text)? = options[option.long] { text } else { nil } }
    set { options[option.long] = newValue.map(OptionValue.text) }
  }

  public subscript(list option: ProtocolOption) -> [String]? {
    get { if case .list(let texts)? = options[option.long] { texts } else { nil } }
    set { options[option.long] = newValue.flatMap { $0.isEmpty ? nil : .list($0) } }
  }

  public subscript(bytes option: ProtocolOption) -> Int64? {
    get { if case .number(let number)? = options[option.long] { number } else { nil } }
    set { options[option.long] = newValue.map(OptionValue.number) }
  }
}
