import Transfers
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The tag files of a bag whose payload consists of the delivered files: RFC 8493.
struct ReceiptBag {
  private struct Payload {
    var digest: String
    var bytes: Int64
    var file: FileID
    var recordedMs: Int64

    /// In a merged ledger, the shard that sent it; row 7 of shard 3 has the number 3000000000007.
    var shard: Int64 { file.rawValue / 1_000_000_000_000 }
  }

  /// A file of one shard under whose name another shard sent other content later.
  struct Replaced {
    var file: FileID
    var by: FileID
  }

  /// Indexed by the bytes of the name in the manifest: if several files have the same key, the one sent last is used.
  private var payloads: [[UInt8]: Payload] = [:]
  /// Files without a known SHA-256 or size, and those whose key cannot be a name in a bag.
  private(set) var leftOut = 0
  /// In a merged ledger, files that are left out because another shard sent other content under their name later.
  private(set) var replaced: [Replaced] = []
  var files: Int { payloads.count }
  var bytes: Int64 { payloads.values.reduce(0) { $0 +| $1.bytes } }

  mutating func add(_ receipt: StoredReceipt) {
    guard let name = Self.name(receipt.key).map({ Array($0.utf8) }) else {
      leftOut += 1
      return
    }
    guard let digest = receipt.sha256, let bytes = receipt.receipt.size else {
      leftOut += 1
      payloads[name] = nil
      return
    }
    let new = Payload(
      digest: digest, bytes: bytes, file: receipt.file, recordedMs: receipt.receipt.recordedMs)
    guard let old = payloads[name], old.shard != new.shard, old.digest != new.digest else {
      payloads[name] = new
      return
    }
    // The numbers of shards say nothing about the order of their files.
    let isNewer = new.recordedMs >= old.recordedMs
    payloads[name] = isNewer ? new : old
    replaced.append(isNewer ? Replaced(file: old.file, by: new.file) : Replaced(file: new.file, by: old.file))
  }

  /// The name below `data/`, with line breaks escaped: section 2.1.3. nil for a name that is not UTF-8, or that leads
  /// out of the bag.
  static func name(_ key: NameBytes) -> String? {
    guard let text = String(validating: key.bytes, as: UTF8.self) else { return nil }
    // By bytes: a slash and a combining mark behind it are one character.
    let parts = key.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard !parts.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
      return nil
    }
    let escapes: [Unicode.Scalar: String] = ["%": "%25", "\n": "%0A", "\r": "%0D"]
    return text.unicodeScalars.reduce(into: "data/") { name, scalar in
      if let escape = escapes[scalar] { name += escape } else { name.unicodeScalars.append(scalar) }
    }
  }

  /// Creates the folder if it does not exist. Each file is written atomically.
  func write(into folder: NameBytes, store: String, wallMs: Int64) throws(CommandFailure) {
    let path = folder.bytes.map { CChar(bitPattern: $0) } + [0]
    guard !folder.isEmpty, mkdir(path, 0o777) == 0 || errno == EEXIST else {
      let cause = systemText(errno)
      throw CommandFailure(.error, code: "output", "make \"\(folder)\": \(cause)", remedy: "another --bagit")
    }
    for (name, text) in tagFiles(wallMs) {
      let file = try OutputFile(NameBytes(folder.bytes + Array("/\(name)".utf8)), store: store)
      file.stream.write(Array(text.utf8))
      try file.keep()
    }
  }

  /// The manifest is written last: a bag without one is incomplete.
  private func tagFiles(_ wallMs: Int64) -> [(name: String, text: String)] {
    let sorted = payloads.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let manifest = sorted.map { "\($0.value.digest)  \(String(decoding: $0.key, as: UTF8.self))\n" }.joined()
    let info = """
      Bag-Software-Agent: transfers \(TransferClient.version)
      Bagging-Date: \(Timestamp.rfc3339(wallMs).prefix(10))
      Payload-Oxum: \(bytes).\(files)

      """
    return [
      ("bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"), ("bag-info.txt", info),
      ("manifest-sha256.txt", manifest),
    ]
  }
}

/// What `store receipts --bagit` wrote.
struct BagOutput: OutputValue {
  let folder: NameBytes
  let files: Int
  let bytes: Int64
  let leftOut: Int
  let replaced: Int

  static let form = ReportForm<BagOutput>(
    "transfers.store.bag/1",
    [
      .facts([
        .name("folder", "folder") { $0.folder },
        .integer("files", "files") { $0.files },
        .bytes("bytes", "size") { $0.bytes },
        .integer("left_out", "without a known SHA-256 or a name in a bag") { $0.leftOut },
        .integer("replaced", "replaced by another shard") { $0.replaced },
      ])
    ])
}
