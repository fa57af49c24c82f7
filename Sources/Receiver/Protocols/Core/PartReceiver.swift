import TransferModel

/// Receives one part of an upload whose parts do not state their offset.
struct PartReceiver {
  let exchange: Exchange

  /// Stores the raw body as part `number` (from 1); durable on return. The bytes are recorded from offset 0 under the
  /// path of the part. `tag` makes the stored tag from the checksum and digests.
  func receive(
    into parts: PartUpload, _ number: Int64, check: BodyCheck? = nil, hashes: [RunningHash.Kind] = [],
    tag: ([RunningHash.Kind: [UInt8]]) -> String = { _ in "" }
  ) throws(ExchangeEnd) -> (part: PartUpload.Part, digests: [RunningHash.Kind: [UInt8]], isNew: Bool) {
    guard case .length(let size) = exchange.head.framing else { throw .refuse(411, "a part needs Content-Length") }
    let known = parts.parts
    // All parts but the last one are probably as long as the longest.
    let nominal = max(size, known.values.map(\.place.length).max() ?? 0)
    guard let slot = parts.slot(number, preferred: (number - 1) * nominal, size: size) else {
      throw .refuse(404, "the upload is complete")
    }
    let running = hashes.map { ($0, RunningHash($0)) }
    try exchange.invite()
    try exchange.receive(
      { bytes throws(ExchangeEnd) in
        for (_, hash) in running { hash.add(bytes) }
        check?.add(bytes)
        try slot.write(bytes)
      }, checksum: { slot.crc32c })
    try check?.verify()
    let digests = Dictionary(uniqueKeysWithValues: running.map { ($0.0, $0.1.finish()) })
    return (try slot.finish(tag: tag(digests)), digests, known[number] == nil)
  }

  /// Records the offsets of the parts in the object; `path` is the path under which they were recorded.
  func noteJoined(_ parts: [(path: NameBytes, length: Int64)], in object: ObjectPath) throws(ExchangeEnd) {
    var offset: Int64 = 0
    for part in parts {
      try exchange.note(.joined(from: part.path, ByteRange(offset: offset, length: part.length)), of: object)
      offset += part.length
    }
  }
}

/// Base64 with the URL-safe alphabet, with or without padding. Source: RFC 4648 section 5.
func bytesFromBase64URL(_ text: String) -> [UInt8]? {
  let plain = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.filter { $0 != "=" }
  return bytesFromBase64(String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4))
}

func base64URL(_ bytes: [UInt8]) -> String {
  String(base64(bytes).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
}
