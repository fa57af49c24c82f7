/// One property of an object at the destination that a rule can set.
package enum ObjectSetting: Sendable, Hashable {
  case contentType, storageClass
  /// A field of the request that creates the object, by its lower-case name.
  case header(String)
  case tag(String)

  /// A kind of property, which a protocol supports or does not.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case contentType = "content_type"
    case storageClass = "storage_class"
    case header, tag
  }

  package var kind: Kind {
    switch self {
    case .contentType: .contentType
    case .storageClass: .storageClass
    case .header: .header
    case .tag: .tag
    }
  }

  /// `content_type`, `storage_class`, `header.NAME`, `tag.NAME`: as written and as stored.
  package var name: String {
    switch self {
    case .contentType, .storageClass: kind.rawValue
    case .header(let name), .tag(let name): "\(kind.rawValue).\(name)"
    }
  }

  /// nil for an unknown name.
  package init?(name: String) {
    switch name {
    case Kind.contentType.rawValue: self = .contentType
    case Kind.storageClass.rawValue: self = .storageClass
    case _ where name.hasPrefix("header.") && name.utf8.count > 7: self = .header(name.dropFirst(7).lowercased())
    case _ where name.hasPrefix("tag.") && name.utf8.count > 4: self = .tag(String(name.dropFirst(4)))
    default: return nil
    }
  }
}

/// A rule for the properties of objects: files whose relative path matches a pattern get one setting. For the meaning
/// of patterns see `transfers help sources`.
public struct ObjectRule: Sendable, Hashable, Codable {
  public var pattern: String
  /// ``ObjectSetting/name``.
  public var setting: String
  public var value: String

  package init(pattern: String, setting: ObjectSetting, value: String) {
    (self.pattern, self.setting, self.value) = (pattern, setting.name, value)
  }

  /// `**/*.bam:content_type=application/octet-stream`, as it is typed.
  public var text: String { "\(pattern):\(setting)=\(value)" }
}

/// The properties that rules set for one file, recorded with it when it is added: later attempts and later versions use
/// them, and a change of the rules does not affect them.
package struct ObjectProperties: Sendable, Hashable {
  /// By ``ObjectSetting/name``; empty for none.
  package var values: [String: String]

  package init(_ values: [String: String] = [:]) { self.values = values }

  package var isEmpty: Bool { values.isEmpty }
  package var contentType: String? { values[ObjectSetting.contentType.name] }
  package var storageClass: String? { values[ObjectSetting.storageClass.name] }
  /// Fields of requests in the order of their names, which are lower-case.
  package var headers: [(name: String, value: String)] { named("header.") }
  /// Maximum number of tags of an object. Source: "Categorizing your storage using tags", Amazon S3 user guide.
  package static let mostTags = 10
  /// In the order of their names.
  package var tags: [(name: String, value: String)] { named("tag.") }

  private func named(_ prefix: String) -> [(name: String, value: String)] {
    values.filter { $0.key.hasPrefix(prefix) }.map { (String($0.key.dropFirst(prefix.count)), $0.value) }
      .sorted { $0.0 < $1.0 }
  }
}
