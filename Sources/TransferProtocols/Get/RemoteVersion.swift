import HTTPTypes
import TransferModel

/// One version of a remote file, as an answer describes it; kept in the notes of the session.
struct RemoteVersion: Sendable, Hashable {
  /// Bytes.
  var size: Int64
  /// As received, quotes and a `W/` included; nil for none.
  var etag: String?
  /// The `Last-Modified` field as received.
  var modified: String?
  /// The server sends ranges.
  var acceptsRanges = false
  /// Of the whole file (RFC 9530).
  var digest: Digest?

  init(size: Int64) { self.size = size }

  /// What a success says of the file; nil when it does not say its length.
  init?(_ reply: TransferReply) {
    guard let size = reply.number("content-length") else { return nil }
    self.size = size
    etag = reply.field("etag").flatMap { $0.isEmpty ? nil : $0 }
    modified = reply.field("last-modified")
    acceptsRanges = reply.field("accept-ranges")?.lowercased() == "bytes"
    digest = ReprDigest.crc32c(reply.field("repr-digest"))
  }

  /// Nobody can tell by a weak validator whether two answers have the same bytes (RFC 9110 section 8.8.1).
  private var isStrong: Bool { etag.map { !$0.hasPrefix("W/") } ?? false }

  var hasRanges: Bool { acceptsRanges && isStrong && size > 0 }

  /// What ``TransferFacts/session`` is called by: never empty.
  var name: String { etag ?? modified ?? "\(size) bytes" }

  // MARK: - In the notes of a session

  private enum Key {
    static let size = "size", etag = "etag", modified = "modified", ranges = "ranges", digest = "crc32c"
  }

  var notes: [String: String] {
    var notes = [Key.size: String(size)]
    notes[Key.etag] = etag
    notes[Key.modified] = modified
    if acceptsRanges { notes[Key.ranges] = "bytes" }
    notes[Key.digest] = digest.map { hexText($0.bytes) }
    return notes
  }

  /// nil while the server has not said which version it has.
  init?(_ session: SessionFacts?) {
    guard let session, session.remoteID != nil, let size = session.notes[Key.size].flatMap({ Int64($0) }) else {
      return nil
    }
    self.size = size
    etag = session.notes[Key.etag]
    modified = session.notes[Key.modified]
    acceptsRanges = session.notes[Key.ranges] != nil
    digest = session.notes[Key.digest].flatMap(bytesFromHex).map { Digest(.crc32c, $0) }
  }

  // MARK: - Against later answers

  /// Why an answer with these fields is of another version; nil when nothing in it says so.
  func change(in fields: HTTPFields, size now: Int64?) -> Failure? {
    if let etag, let other = fields[.eTag], other != etag {
      return Failure(.sourceChanged, "the remote file changed: its ETag was \(etag) and is \(other)")
    }
    if let now, now != size {
      return Failure(.sourceChanged, "the remote file changed its size from \(size) to \(now) bytes")
    }
    if etag == nil, let modified, let other = fields[.lastModified], other != modified {
      return Failure(.sourceChanged, "the remote file changed: it was modified \(modified), and is now of \(other)")
    }
    return nil
  }
}
