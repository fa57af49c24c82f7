import ArgumentParser
import TransferModel
import Transfers

/// Protocols of one direction.
protocol OptionDeclaring: Sendable { static var options: [ProtocolOption] { get } }

enum UploadProtocols: OptionDeclaring { static let options = ProtocolCatalog.options }

enum DownloadProtocols: OptionDeclaring { static let options = ProtocolCatalog.downloadOptions }

/// The options of all protocols of a direction, from their definitions; the library refuses options that the
/// destination does not support.
///
/// The parser finds the options of a type by reflection. Here the mirror has one child for each ``ProtocolOption``, so
/// that parsing, help, completions and environment variables treat them as if they were properties.
struct ProtocolOptions<Protocols: OptionDeclaring>: ParsableArguments, CustomReflectable {
  /// The given values, by the long names.
  private(set) var values: [String: OptionValue] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for option in Protocols.options { values[option.long] = try Self.value(option, in: container) }
  }

  var customMirror: Mirror {
    Mirror(
      self, children: Protocols.options.map { (label: $0.long, value: Self.argument($0)) },
      displayStyle: .struct)
  }

  /// The property wrapper that declares the option.
  private static func argument(_ option: ProtocolOption) -> Any {
    let name = NameSpecification.customLong(option.long)
    let help = ArgumentHelp(
      "\(option.help)", valueName: option.valueName.isEmpty ? nil : option.valueName)
    return switch option.kind {
    case .flag: Flag<Bool>(wrappedValue: false, name: name, help: help)
    case .toggle: Flag<Bool?>(name: name, inversion: .prefixedNo, help: help)
    case .text: Option<String?>(name: name, help: help)
    case .list: Option<[String]>(wrappedValue: [], name: name, help: help)
    case .bytes: Option<ByteQuantity?>(name: name, help: help)
    }
  }

  private static func value(
    _ option: ProtocolOption, in container: KeyedDecodingContainer<Key>
  ) throws -> OptionValue? {
    let key = Key(option.long)
    switch option.kind {
    case .flag: return try container.decode(Flag<Bool>.self, forKey: key).wrappedValue ? .flag(true) : nil
    case .toggle: return try container.decode(Flag<Bool?>.self, forKey: key).wrappedValue.map(OptionValue.flag)
    case .text: return try container.decode(Option<String?>.self, forKey: key).wrappedValue.map(OptionValue.text)
    case .list:
      let texts = try container.decode(Option<[String]>.self, forKey: key).wrappedValue
      return texts.isEmpty ? nil : .list(texts)
    case .bytes:
      return try container.decode(Option<ByteQuantity?>.self, forKey: key).wrappedValue.map { .number($0.bytes) }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ long: String) { stringValue = long }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }
}
