import HTTPTypes
import TransferModel

@testable import TransferProtocols

/// Named facts and replies that the dialogues start from.
enum Scene {
  static let uid = UID(text: "01890a5d-ac96-774b-bcce-b302099a8057")!
  /// Fri, 24 May 2013 00:00:00 GMT.
  static let wallMs: Int64 = 1_369_353_600_000
  static let date = "Fri, 24 May 2013 00:00:00 GMT"
  static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
  static let aws = Credential.aws(accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: secret, sessionToken: nil)

  static func s3(
    _ destination: String = "s3://examplebucket/", change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> S3Protocol {
    var settings = BatchSettings(destination: destination)
    change(&settings)
    return try AllProtocols.make(settings, credentialsRegion: nil) as! S3Protocol
  }

  static func web(
    _ destination: String, change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> PutProtocol {
    var settings = BatchSettings(destination: destination)
    change(&settings)
    return try AllProtocols.make(settings, credentialsRegion: nil) as! PutProtocol
  }

  static func context(
    _ credential: Credential? = aws, learned change: (inout LearnedFacts) -> Void = { _ in }
  ) -> RequestContext {
    var learned = LearnedFacts()
    change(&learned)
    return RequestContext(wallMs: wallMs, credential: credential, learned: learned)
  }

  static func facts(
    key: String = "k", size: Int64 = 5, parts: Int = 1, session: String?? = nil,
    change: (inout TransferFacts) -> Void = { _ in }
  ) -> TransferFacts {
    let layout =
      parts == 1
      ? ChunkLayout(whole: size) : ChunkLayout(size: size, chunkSize: (size + Int64(parts) - 1) / Int64(parts))
    var facts = TransferFacts(
      file: FileFacts(uid: uid, key: NameBytes(key), size: size, mtimeMs: 0), layout: layout)
    if let session { facts.session = SessionFacts(remoteID: session, intendedAtMs: wallMs - 60_000) }
    change(&facts)
    return facts
  }

  /// A multipart upload of `hello ` and `world` that is open on the server, with everything stored.
  static func stored(_ confirmation: Confirmation = .digest, md5: Bool = true) -> TransferFacts {
    facts(size: 11, parts: 2, session: "U") { facts in
      facts.storedChunks = facts.layout.count
      facts.parts = [part(0, "hello ", confirmation, md5: md5), part(1, "world", confirmation, md5: md5)]
    }
  }

  static func part(_ seq: Int, _ text: String, _ confirmation: Confirmation, md5: Bool = true) -> PartReceipt {
    PartReceipt(
      seq: seq, length: Int64(text.utf8.count), etag: "\"\(hexText(digest(text, .md5).bytes))\"",
      digest: digest(text, .crc64nvme), md5: md5 ? digest(text, .md5) : nil, confirmation: confirmation)
  }

  static func digest(_ text: String, _ algorithm: DigestAlgorithm) -> Digest {
    RunningDigest.of(Array(text.utf8), algorithm)
  }

  static func chunk(_ seq: Int = 0, _ text: String = "hello", _ algorithms: DigestAlgorithm...) -> ChunkFacts {
    let digests = Dictionary(uniqueKeysWithValues: algorithms.map { ($0, digest(text, $0)) })
    return ChunkFacts(seq: seq, range: ByteRange(offset: 0, length: Int64(text.utf8.count)), digests: digests)
  }

  static func reply(_ status: Int, _ fields: [(String, String)] = [], _ body: String = "") -> TransferReply {
    var reply = TransferReply()
    reply.status = status
    reply.requestMayHaveArrived = true
    for (name, value) in fields { reply.fields[HTTPField.Name(name)!] = value }
    reply.body = Array(body.utf8)
    return reply
  }

  static func error(_ status: Int, _ code: String, _ more: String = "", fields: [(String, String)] = [])
    -> TransferReply
  {
    reply(status, fields, "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>because</Message>\(more)</Error>")
  }

  /// The connection broke (CURLE_RECV_ERROR), or was never made (CURLE_COULDNT_CONNECT) if nothing may have arrived.
  static func broken(mayHaveArrived: Bool = true) -> TransferReply {
    var reply = TransferReply()
    reply.curlCode = mayHaveArrived ? 56 : 7
    reply.curlMessage = "gone"
    reply.requestMayHaveArrived = mayHaveArrived
    return reply
  }
}

/// An interpretation in one line, for comparison.
func text(_ meaning: Interpretation) -> String {
  var texts: [String] = []
  if !meaning.notes.isEmpty {
    texts.append("noted \(meaning.notes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })")
  }
  if let doubt = meaning.doubt { texts.append("doubted \(doubt.keys.sorted())") }
  if let opened = meaning.opened { texts.append("opened \(opened.remoteID)") }
  let isOpening = if case .settled = meaning.outcome { meaning.opened != nil } else { false }
  if !isOpening { texts.append(text(meaning.outcome)) }
  let learned = meaning.learned.map {
    "learned(\($0.region ?? "-") \($0.clockSkewMs) \($0.checksums) \($0.partChecksums)) "
  }
  return (learned ?? "") + texts.joined(separator: ", ")
}

func text(_ outcome: Interpretation.Outcome) -> String {
  switch outcome {
  case .partsListed(let parts, let next): "parts \(parts.map { "\($0.seq):\($0.length)" }) next \(next ?? "-")"
  case .unlistedUploads(let ids, let next): "unlisted \(ids) next \(next ?? "-")"
  case .stored(let part, let proof):
    "stored \(part.seq) \(part.confirmation)\(proof.map { " whole \($0.confirmation)" } ?? "")"
  case .finished(let proof): "finished \(proof.confirmation)"
  case .absent: "absent"
  case .inconclusive: "inconclusive"
  case .settled: "settled"
  case .begun(let beginning): "begun with \(beginning.received) of \(beginning.layout.size)"
  case .listed(let page): "listed \(page.objects.map(\.key))"
  case .advanced(let acked): "advanced to \(acked)"
  case .pieceStored(let remote): "piece \(remote.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
  case .chunkPrepared(let remote): "prepared \(remote.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
  case .chunkProbed(let acked): "chunk has \(acked)"
  case .offset(let offset): "offset \(offset)"
  case .notYet(let afterMs): "not yet, \(afterMs) ms"
  case .failed(let failure, let action): "\(failure.code.rawValue) \(action)"
  }
}

func failure(_ meaning: Interpretation) -> Failure? {
  if case .failed(let failure, _) = meaning.outcome { failure } else { nil }
}
