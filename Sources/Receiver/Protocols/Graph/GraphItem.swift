import TransferModel

/// The description that Microsoft Graph gives of an uploaded item.
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
  /// `GET drives/D/items/P:/NAME`: size and digest of an item; 404 for one that was not uploaded here.
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

/// QuickXorHash as Microsoft describes it: "QuickXorHash", OneDrive API, code snippets. Byte n is rotated by 11·n of
/// 160 bits, so bytes that are 160 apart affect the same bits: they are folded first, eight at a time.
struct QuickXorRegister {
  private var folded = [UInt64](repeating: 0, count: 20)
  private var length = 0

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var at = 0
    while at < bytes.count {
      let isWord = length % 8 == 0 && bytes.count - at >= 8
      folded[length / 8 % 20] ^=
        isWord
        ? bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian
        : UInt64(bytes[at]) << UInt64(8 * (length % 8))
      at += isWord ? 8 : 1
      length += isWord ? 8 : 1
    }
  }

  var bytes: [UInt8] {
    var out = [UInt8](repeating: 0, count: 20)
    for n in 0..<160 {
      let turned = UInt16(folded[n / 8] >> UInt64(8 * (n % 8)) & 0xFF) << UInt16(11 * n % 8)
      let cell = 11 * n % 160 / 8
      out[cell] ^= UInt8(truncatingIfNeeded: turned)
      out[(cell + 1) % 20] ^= UInt8(turned >> 8)
    }
    for i in 0..<8 { out[12 + i] ^= UInt8(truncatingIfNeeded: length >> (8 * i)) }
    return out
  }
}
