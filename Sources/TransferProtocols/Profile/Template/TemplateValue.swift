import TransferModel

/// A value in a template.
enum TemplateValue: Sendable, Hashable {
  /// Bytes, because file names are bytes; UTF-8 if the value comes from a server.
  case text([UInt8])
  case int(Int64)
  case bool(Bool)
  /// Milliseconds since 1970 UTC; rendered as whole seconds unless a filter says otherwise.
  case time(Int64)
  /// Raw bytes, most significant first; rendered as lower-case hexadecimal digits.
  case digest([UInt8])
  case list([TemplateValue])
  case record([String: TemplateValue])
  /// The variable of this name has no value (yet).
  case missing(String)

  static func string(_ text: String) -> TemplateValue { .text(Array(text.utf8)) }
}

/// Why a template cannot be rendered.
struct RenderFault: Error, Hashable {
  enum Kind: Hashable {
    /// A variable without a value.
    case missing
    /// A value of the wrong type, or one that is not allowed there.
    case value
    case overflow
    /// A name that is not UTF-8 where text is needed.
    case notUTF8
  }

  var kind: Kind
  /// In lower case; never quotes a value, which may be a secret.
  var message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The failure of an attempt.
  var failure: Failure {
    switch kind {
    case .missing: Failure(.protoBadReply, message)
    case .value, .overflow: Failure(.protoUnsupported, message)
    case .notUTF8: Failure(.sourceName, message)
    }
  }
}

extension TemplateValue {
  /// For messages.
  var kind: String {
    switch self {
    case .text: "text"
    case .int: "a number"
    case .bool: "true or false"
    case .time: "a time"
    case .digest: "a digest"
    case .list: "a list"
    case .record: "a part"
    case .missing: "nothing"
    }
  }

  /// The rendered text.
  func bytes() throws(RenderFault) -> [UInt8] {
    switch self {
    case .text(let bytes): return bytes
    case .int(let value): return Array(String(value).utf8)
    case .bool(let value): return Array((value ? "true" : "false").utf8)
    case .time(let ms): return Array(String(ms.flooredSeconds).utf8)
    case .digest(let bytes): return Array(hexText(bytes).utf8)
    case .list: throw RenderFault(.value, "a list cannot be part of text; add \"| join(',')\"")
    case .record: throw RenderFault(.value, "a part cannot be part of text; name one of its values")
    case .missing(let name): throw RenderFault(.missing, "\(name) has no value")
    }
  }

  /// The text of the value.
  func text() throws(RenderFault) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw RenderFault(.notUTF8, "the name is not UTF-8, and this server's protocol needs text")
    }
    return text
  }

  /// The value as a whole number; text must be one.
  func integer() throws(RenderFault) -> Int64 {
    switch self {
    case .int(let value): return value
    case .time(let ms): return ms.flooredSeconds
    case .text(let bytes):
      guard let value = Int64(String(decoding: bytes, as: UTF8.self)) else {
        throw RenderFault(.value, "text is not a whole number where one is needed")
      }
      return value
    case .missing(let name): throw RenderFault(.missing, "\(name) has no value")
    case .bool, .digest, .list, .record:
      throw RenderFault(.value, "\(kind) is used where a whole number is needed")
    }
  }

  /// Its value in `when`: false, zero, empty and missing are false.
  var isTrue: Bool {
    switch self {
    case .text(let bytes): !bytes.isEmpty
    case .int(let value): value != 0
    case .bool(let value): value
    case .list(let values): !values.isEmpty
    case .missing: false
    case .time, .digest, .record: true
    }
  }

  /// Numbers are compared as numbers, even if one of the two is text; everything else by its text. A missing value
  /// equals only another missing one.
  func equals(_ other: TemplateValue) throws(RenderFault) -> Bool {
    switch (self, other) {
    case (.missing, .missing): return true
    case (.missing, _), (_, .missing): return false
    case (.list(let a), .list(let b)): return a == b
    default: break
    }
    if let a = try? integer(), let b = try? other.integer() { return a == b }
    return try bytes() == other.bytes()
  }
}

extension Int64 {
  /// Milliseconds as whole seconds, rounded down.
  var flooredSeconds: Int64 { self >= 0 || self % 1000 == 0 ? self / 1000 : self / 1000 - 1 }
}
