import TransferLedger
import TransferModel
import TransferProtocols

/// The result of preparing one request.
struct Prepared: Sendable {
  /// nil for requests without a source body.
  var body: PreparedBody?
  /// The sink of the answer's body; nil for uploads and queries.
  var region: TargetRegion?
  /// The URL to request, if it was obtained for this request.
  var start: String?
  var credential: Credential?
  /// Requested digests of the whole file.
  var fileDigests: [DigestAlgorithm: Digest] = [:]
  /// SHA-256 of the whole file, if it was read for that (``RecordedSHA256/ofFile``).
  var sha256: Digest?
  /// Of a download: a regular file with the final name exists.
  var holdsPast = false
  /// Of a download: another local file has all of its content, and nothing needs to be sent.
  var twin: Twins.Found?
  /// Another file has delivered the content of this source, and nothing needs to be sent.
  var original: DeliveredFile?
}

/// The body of a chunk, with the digests that are sent before it.
struct PreparedBody: Sendable {
  enum Content: Sendable {
    /// Read once, digested and sent from memory.
    case memory([UInt8], Digest)
    case slice(FileSlice)
  }
  var content: Content
  var ahead: [DigestAlgorithm: Digest]
  /// Digest of the part of the chunk that the server already has; nil for none.
  var head: Digest?
  /// SHA-256 of the bytes of ``Content/memory``, if it is recorded.
  var sha256: Digest?

  func requestBody(in envelope: BodyEnvelope?) -> RequestBody {
    switch content {
    case .memory(let bytes, _): .bytes(envelope.map { $0.prefix + bytes + $0.suffix } ?? bytes)
    case .slice(let slice): .source(envelope.map { EnvelopedBody($0, around: slice) } ?? slice)
    }
  }

  var length: Int64 {
    switch content {
    case .memory(let bytes, _): Int64(bytes.count)
    case .slice(let slice): slice.length
    }
  }

  /// The bytes of `range`, the range of this body, that were read; nil for none.
  func sentPiece(of range: ByteRange) -> SentContent.Piece? {
    switch content {
    case .memory(let bytes, let digest):
      bytes.isEmpty
        ? nil : SentContent.Piece(range: ByteRange(offset: range.offset, length: Int64(bytes.count)), digest: digest)
    case .slice(let slice): slice.sentPiece()
    }
  }

  /// Where the bytes of `range` end that were read; nil for none.
  func sentEnd(of range: ByteRange) -> Int64? {
    switch content {
    case .memory(let bytes, _): bytes.isEmpty ? nil : range.offset + Int64(bytes.count)
    case .slice(let slice): slice.sentEnd
    }
  }

  /// SHA-256 of the bytes that were sent, if it is recorded; nil if the body was not sent completely.
  func sentSHA256() -> Digest? {
    switch content {
    case .memory: sha256
    case .slice(let slice): slice.sentSHA256()
    }
  }

  /// Digest of the chunk from its start to the last byte that was sent.
  func digestFromStart() -> Digest? {
    guard let sent = sentDigest() else { return nil }
    return head.map { RunningDigest.combine($0, sent, secondLength: length) } ?? sent
  }

  /// Digest of the bytes that were sent, by the protocol's algorithm; nil if the body was not sent completely.
  func sentDigest() -> Digest? {
    switch content {
    case .memory(_, let digest): digest
    case .slice(let slice): slice.sentDigest()
    }
  }
}
