import TransferModel

@testable import TransferProtocols

/// Facts of WebDAV uploads by PATCH.
enum DavPatchScene {
  static let temporary = "http://h/in/.transfers-1"

  static func davPatch(
    _ destination: String = "davpatch+http://h/in/", change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> DavPatchProtocol {
    var settings = BatchSettings(destination: destination)
    change(&settings)
    return try AllProtocols.make(settings, credentialsRegion: nil) as! DavPatchProtocol
  }

  /// A file whose temporary object exists, cut into chunks of `chunk` bytes.
  static func facts(
    size: Int64 = 11, chunk: Int64 = 6, notes: [String: String]? = ["made": "1"],
    change: (inout TransferFacts) -> Void = { _ in }
  ) -> TransferFacts {
    let layout = size > chunk ? ChunkLayout(size: size, chunkSize: chunk) : ChunkLayout(whole: size)
    var facts = TransferFacts(
      file: FileFacts(uid: Scene.uid, key: NameBytes("in/a b.pdf"), size: size, mtimeMs: 0), layout: layout)
    facts.isPlanned = true
    facts.learned.discovered = [DavPatchProtocol.feature: "announced"]
    facts.wallMs = Scene.wallMs
    if let notes {
      facts.session = SessionFacts(remoteID: temporary, intendedAtMs: Scene.wallMs - 60_000, notes: notes)
    }
    change(&facts)
    return facts
  }

  /// `hello ` and `world` are stored.
  static func stored(
    _ notes: [String: String] = ["made": "1"], change: (inout TransferFacts) -> Void = { _ in }
  ) -> TransferFacts {
    facts(notes: notes) { facts in
      facts.storedChunks = 2
      facts.acked = 11
      facts.parts = [("hello ", 0), ("world", 1)].map { text, seq in
        PartReceipt(
          seq: seq, length: Int64(text.utf8.count), etag: "", digest: Scene.digest(text, .crc32c), confirmation: .none)
      }
      change(&facts)
    }
  }

  static func context(_ facts: TransferFacts, _ credential: Credential? = nil) -> RequestContext {
    RequestContext(wallMs: Scene.wallMs, credential: credential, learned: facts.learned)
  }

  static func chunk(_ seq: Int, _ range: Range<Int64>, acked: Int64 = 0) -> ChunkFacts {
    ChunkFacts(
      seq: seq, range: ByteRange(offset: range.lowerBound, length: Int64(range.count)), acked: acked,
      digests: [.crc32c: Scene.digest("x", .crc32c)])
  }
}
