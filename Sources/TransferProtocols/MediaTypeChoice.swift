import TransferModel

/// The media type of bodies.
enum MediaTypeChoice: Sendable, Hashable {
  /// Chosen by the extension of the name.
  case byName
  case fixed(String)

  /// - Throws: `.usage` for an invalid media type.
  init(parsing text: String) throws(TransferError) {
    guard text != "auto" else {
      self = .byName
      return
    }
    guard Self.isValid(text) else {
      throw TransferError(
        .usage, "read --content-type", NameBytes(text), cause: "it is not a media type",
        remedy: "write one as text/csv, or auto to choose by the extension")
    }
    self = .fixed(text)
  }

  func type(of key: NameBytes) -> String {
    switch self {
    case .byName: MediaType.of(key.lastComponent.bytes)
    case .fixed(let type): type
    }
  }
  /// The media type from a rule for the file, if there is one.
  func type(of file: FileFacts) -> String {
    switch file.properties.contentType {
    case "auto"?: Self.byName.type(of: file.key)
    case let type?: type
    case nil: type(of: file.key)
    }
  }

  /// `type/subtype`, perhaps with parameters, that a header field can carry (RFC 9110 section 8.3.1).
  static func isValid(_ text: String) -> Bool {
    let essence = text.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
    let areNames = essence.count == 2 && essence.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isTokenByte) }
    return areNames && text.utf8.count <= 255 && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// RFC 9110 section 5.6.2.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
