import TransferModel

/// Iterates over the elements of a Metalink document, file by file.
struct MetalinkWalk {
  private static let namespace = "urn:ietf:params:xml:ns:metalink"
  private static let namespaceOf3 = "http://www.metalinker.org/"

  private var scanner: XMLScanner
  /// Local names of the open elements; empty for elements of other namespaces.
  private var open: [String] = []
  private var prefix: ArraySlice<UInt8> = []
  private var text = ""
  private var file: MetalinkFile?
  private var names: Set<NameBytes> = []

  var position: Int { scanner.position }

  init(_ bytes: [UInt8]) throws(ManifestFault) {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw ManifestFault("it is not UTF-8", "convert the file to UTF-8")
    }
    do throws(XMLFault) { scanner = try XMLScanner(bytes, MetalinkReader.limits) } catch {
      throw MetalinkReader.fault(error)
    }
  }

  /// The next file; nil at the end. `lineOf` returns the line of a position.
  mutating func next(_ lineOf: (Int) -> Int) throws(ManifestFault) -> ManifestEntry? {
    while let event = try event() {
      switch event {
      case .open(let name): try begin(name, lineOf)
      case .text(let more): text += more
      case .close: if let entry = try end() { return entry }
      }
    }
    guard !names.isEmpty else { throw ManifestFault("it lists no file", "check that this is a Metalink file") }
    return nil
  }

  private mutating func event() throws(ManifestFault) -> XMLScanner.Event? {
    do throws(XMLFault) { return try scanner.next() } catch { throw MetalinkReader.fault(error) }
  }

  private mutating func begin(_ name: String, _ lineOf: (Int) -> Int) throws(ManifestFault) {
    text = ""
    if open.isEmpty { try checkRoot(name) }
    open.append(scanner.prefix == prefix ? name : "")
    guard open.count > 1, open[1] == "file" else { return }
    let attributes = try attributes()
    switch open.dropFirst(2) {
    case []: file = try MetalinkFile(attributes, line: lineOf(scanner.position))
    case ["url"]: try file?.beginURL(attributes)
    case ["hash"]: file?.hashName = attributes["type"]
    case ["pieces"]: try file?.beginPieces(attributes)
    default: break
    }
  }

  private mutating func end() throws(ManifestFault) -> ManifestEntry? {
    let path = open
    open.removeLast()
    let content = Self.trimmed(text)
    text = ""
    guard path.count > 1, path[1] == "file" else { return nil }
    switch path.dropFirst(2) {
    case ["size"]: try file?.set(size: content)
    case ["url"]: try file?.endURL(content)
    case ["hash"]: try file?.addHash(content)
    case ["pieces", "hash"]: try file?.addPiece(content)
    case ["pieces"]: file?.endPieces()
    case []: return try endFile()
    default: break
    }
    return nil
  }

  private mutating func endFile() throws(ManifestFault) -> ManifestEntry? {
    guard let entry = try file?.entry() else { return nil }
    file = nil
    guard names.insert(entry.path).inserted else {
      throw ManifestFault("\(ManifestFault.shown(entry.path.bytes)) is listed twice", "keep one of them")
    }
    return entry
  }

  private mutating func checkRoot(_ name: String) throws(ManifestFault) {
    prefix = scanner.prefix
    let key = prefix.isEmpty ? "xmlns" : "xmlns:" + String(decoding: prefix, as: UTF8.self)
    let found = name == "metalink" ? try attributes()[key] : nil
    guard found != Self.namespaceOf3 else {
      throw ManifestFault(
        "it is Metalink 3, and only Metalink 4 (RFC 5854) is read", "ask the publisher for a .meta4 file")
    }
    guard found == Self.namespace else {
      throw ManifestFault(
        "it is XML, but not Metalink 4: its root is not \"metalink\" of \(Self.namespace)",
        "check that this is a Metalink file")
    }
  }

  private func attributes() throws(ManifestFault) -> [String: String] {
    do throws(XMLFault) { return try scanner.attributes() } catch { throw MetalinkReader.fault(error) }
  }

  private static func trimmed(_ text: String) -> Substring.UTF8View {
    let bytes = text.utf8.drop(while: isBlank)
    let end = bytes.lastIndex { !isBlank($0) }.map { bytes.index(after: $0) } ?? bytes.startIndex
    return bytes[..<end]
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D }
}
