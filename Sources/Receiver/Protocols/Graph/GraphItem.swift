import TransferModel

/// What Microsoft Graph says about an item that was uploaded.
final class GraphItem: UploadSession {
  let protocolName = "graph item"
  let id = randomID()
  let expiresAtMs = Int64.max
  let size: Int64
  /// nil when bodies are discarded.
  let quickXor: [UInt8]?

  init(_ path: ObjectPath, size: Int64, _ quickXor: [UInt8]?) { (self.size, self.quickXor) = (size, quickXor) }
}

extension GraphEndpoint {
  /// `GET drives/D/items/P:/NAME`: size and digest of an item; 404 for what was not uploaded here.
  func item() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let words = target.words
    guard words.count >= 5, words[0] == "drives", words[2] == "items", words[3].hasSuffix(":") else {
      throw .refuse(404, "itemNotFound")
    }
    var name = target
    name.rest = Array(target.rest[4...])
    let path = try name.objectPath(from: 0)
    guard let item = exchange.core.uploads.find(path.bytes.description, GraphItem.self) else {
      throw .refuse(404, "itemNotFound")
    }
    let hashes: JSON = item.quickXor.map { ["quickXorHash": .text(base64($0))] } ?? [:]
    return Answer(200, json: ["id": .text(item.id), "size": .number(item.size), "file": ["hashes": hashes]])
  }
}

/// QuickXorHash, bit for bit as Microsoft describes it: "QuickXorHash", OneDrive API, code snippets.
struct QuickXorRegister {
  private var bits = [Bool](repeating: false, count: 160)
  private var length = 0

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      for bit in 0..<8 where byte >> UInt8(bit) & 1 == 1 { bits[(length * 11 + bit) % 160].toggle() }
      length += 1
    }
  }

  var bytes: [UInt8] {
    var out = (0..<20).map { cell in (0..<8).reduce(UInt8(0)) { $0 | (bits[8 * cell + $1] ? 1 << UInt8($1) : 0) } }
    for i in 0..<8 { out[12 + i] ^= UInt8(truncatingIfNeeded: length >> (8 * i)) }
    return out
  }
}
