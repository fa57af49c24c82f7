import TransferModel

/// The path of a request below the receiver's folder: names as bytes, already decoded and checked for safety.
struct ObjectPath: Hashable {
  /// Empty only for the root; no component is empty, `.`, `..`, longer than 255 bytes or contains a slash or NUL.
  var components: [NameBytes]
  /// The path ended with a slash.
  var isCollection: Bool

  static let root = ObjectPath(components: [], isCollection: true)

  var bytes: NameBytes { NameBytes(Array(components.map(\.bytes).joined(separator: [0x2F]))) }

  /// Reads the path of a request target without the query. Refuses with 400 or 414 paths that must not reach the disk.
  init(requestPath: ArraySlice<UInt8>) throws(ExchangeEnd) {
    guard requestPath.first == 0x2F else { throw .refuse(400, "the path does not begin with a slash") }
    var pieces = requestPath.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
    isCollection = pieces.last?.isEmpty ?? true
    if isCollection { _ = pieces.popLast() }
    components = []
    for piece in pieces { components.append(try Self.component(piece)) }
    if components.first == ObjectStore.hiddenName {
      throw .refuse(403, "\(ObjectStore.hiddenName) is the receiver's own folder")
    }
  }

  /// The name of an object in a URL path. Refuses the same paths, and those that are reserved for the protocols.
  init(objectAt path: ArraySlice<UInt8>) throws(ExchangeEnd) {
    try self.init(requestPath: path)
    if components.isEmpty || isCollection { throw .refuse(400, "the object has no name") }
    try refuseReserved()
  }

  /// A relative path in plain bytes, as file names arrive in fields of protocols. Refuses the same paths.
  init(name: [UInt8]) throws(ExchangeEnd) {
    isCollection = false
    components = []
    for piece in name.split(separator: 0x2F, omittingEmptySubsequences: false) {
      components.append(try Self.checked(Array(piece)))
    }
    if components.first == ObjectStore.hiddenName {
      throw .refuse(403, "\(ObjectStore.hiddenName) is the receiver's own folder")
    }
    try refuseReserved()
  }

  private func refuseReserved() throws(ExchangeEnd) {
    if components.first == NameBytes("-") { throw .refuse(403, "/-/ belongs to the protocols of the receiver") }
  }

  private init(components: [NameBytes], isCollection: Bool) {
    self.components = components
    self.isCollection = isCollection
  }

  func appending(_ name: NameBytes) -> ObjectPath {
    ObjectPath(components: components + [name], isCollection: false)
  }

  /// Decodes one percent-encoded component and checks it.
  static func component(_ encoded: ArraySlice<UInt8>) throws(ExchangeEnd) -> NameBytes {
    guard let decoded = percentDecoded(encoded) else { throw .refuse(400, "the path has a broken percent sign") }
    return try checked(decoded)
  }

  private static func checked(_ decoded: [UInt8]) throws(ExchangeEnd) -> NameBytes {
    if decoded.isEmpty { throw .refuse(400, "the path has an empty component") }
    if decoded == [0x2E] || decoded == [0x2E, 0x2E] { throw .refuse(400, "the path has a dot component") }
    if decoded.contains(0) || decoded.contains(0x2F) {
      throw .refuse(400, "a component of the path holds a NUL or an encoded slash")
    }
    if decoded.count > 255 { throw .refuse(414, "a component of the path is longer than 255 bytes") }
    return NameBytes(decoded)
  }

  /// The path as a URL path, every byte outside the unreserved set encoded. Source: RFC 3986 section 2.3.
  var encoded: String {
    var out = ""
    for name in components {
      out += "/"
      for byte in name.bytes { out += Self.isUnreserved(byte) ? String(Unicode.Scalar(byte)) : Self.escape(byte) }
    }
    return isCollection ? out + "/" : out
  }

  private static func escape(_ byte: UInt8) -> String { "%" + hexText([byte]).uppercased() }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }
}

/// The bytes of percent-encoded text; nil when a `%` is not followed by two hexadecimal digits.
func percentDecoded(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
  var out: [UInt8] = []
  var rest = encoded
  while let byte = rest.popFirst() {
    guard byte == 0x25 else {
      out.append(byte)
      continue
    }
    guard rest.count >= 2,
      let decoded = bytesFromHex(String(decoding: rest.prefix(2), as: UTF8.self))
    else { return nil }
    out += decoded
    rest = rest.dropFirst(2)
  }
  return out
}
