import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Facts, requests and answers of tus.
enum TusScene {
  static let everything =
    "creation,creation-with-upload,expiration,checksum,termination,concatenation"

  static func tus(
    _ destination: String = "tus+http://h/files/", partSize: Int64? = nil,
    change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> TusProtocol {
    var settings = BatchSettings(destination: destination)
    settings.partSize = partSize
    change(&settings)
    return try AllProtocols.make(settings, credentialsRegion: nil) as! TusProtocol
  }

  static func learned(_ extensions: String, _ checksums: String = "", maxSize: String? = nil) -> LearnedFacts {
    var learned = LearnedFacts()
    learned.discovered = ["extensions": extensions, "checksums": checksums, "versions": "1.0.0"]
    learned.discovered?["max-size"] = maxSize
    return learned
  }

  /// A file whose upload is open on the server, cut into chunks of `chunk` bytes.
  static func facts(
    size: Int64, chunk: Int64? = nil, extensions: String = "creation", checksums: String = "",
    url: String? = "http://h/files/1", change: (inout TransferFacts) -> Void = { _ in }
  ) -> TransferFacts {
    let layout = chunk.map { ChunkLayout(size: size, chunkSize: $0) } ?? ChunkLayout(whole: size)
    var facts = TransferFacts(
      file: FileFacts(uid: Scene.uid, key: NameBytes("in/a b.pdf"), size: size, mtimeMs: 0), layout: layout)
    facts.isPlanned = true
    facts.learned = learned(extensions, checksums)
    facts.wallMs = Scene.wallMs
    if let url { facts.session = SessionFacts(remoteID: url, intendedAtMs: Scene.wallMs - 60_000) }
    change(&facts)
    return facts
  }

  static func joined(_ facts: inout TransferFacts) {
    facts.session = SessionFacts(remoteID: "concat:x", intendedAtMs: Scene.wallMs, notes: ["mode": "concat"])
  }

  static func context(_ facts: TransferFacts, _ credential: Credential? = nil, failures: Int = 0) -> RequestContext {
    RequestContext(wallMs: Scene.wallMs, credential: credential, learned: facts.learned, failures: failures)
  }

  static func chunk(_ seq: Int, _ range: Range<Int64>, acked: Int64 = 0, remote: [String: String] = [:]) -> ChunkFacts {
    ChunkFacts(
      seq: seq, range: ByteRange(offset: range.lowerBound, length: Int64(range.count)), acked: acked, remote: remote,
      digests: [.crc32c: Scene.digest("x", .crc32c)])
  }

  /// Method, URL and fields in one line each.
  static func wire(_ request: TransferRequest) -> [String] {
    ["\(request.method) \(request.url)"]
      + request.fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
  }

  static func say(_ step: TransferStep) -> String {
    switch step {
    case .control(let request): "\(request)".prefix { $0 != "(" }.description
    case .chunks: "chunks"
    case .chunkThatOpensSession: "chunk that opens"
    case .openSession(let id, let notes): "open \(id.prefix(7)) \(notes)"
    case .dropSession(let failure): "drop \(failure.code.rawValue)"
    case .complete(let proof): "complete \(proof.confirmation)"
    case .reuse(let proof): "reuse \(proof.confirmation)"
    case .place(let proof): "place \(proof.confirmation)"
    case .fail(let failure): "fail \(failure.code.rawValue)"
    }
  }
}
