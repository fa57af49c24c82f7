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
  /// ``modified`` tells this version from all others.
  var isDateStrong = false
  /// The server has sent a range.
  var acceptsRanges = false
  /// It was made so shortly before the answer that another version could still get the same ETag: nginx 1.22 makes it
  /// of the time in seconds and the length, and calls it strong.
  var isFresh = false
  /// Its length was known when the connection ended, and not before: nobody can tell whether that was all.
  var isEndUncertain = false
  /// Of the whole file, as its server says.
  var digests: [Digest] = []
  /// The server's own name for it; nil for none.
  var versionID: String?
  /// What the server calls the file, fit for any folder; nil where nobody asked.
  var givenName: String?

  init(size: Int64) { self.size = size }

  /// What the answer with these fields says of a file of `size` bytes; `isWhole` when its body is all of it.
  init(size: Int64, _ fields: HTTPFields, isWhole: Bool, wallMs: Int64) {
    self.size = size
    etag = fields[.eTag].flatMap { $0.isEmpty ? nil : $0 }
    modified = fields[.lastModified]
    let age = Self.age(modified: modified, date: fields[.date], wallMs: wallMs)
    // A minute lies between the change and the answer (RFC 9110 section 8.8.2.2): a second change in the same second
    // would have been seen, by clocks that are not quite the same.
    isDateStrong = age.map { $0 >= 60_000 } ?? false
    // Two whole seconds, because the clock of a file system may be a few milliseconds behind the one of answers.
    isFresh = age.map { $0 < 2_000 } ?? false
    digests = ToldDigests.all(fields, isWhole: isWhole)
  }

  /// Of the file when the answer was made, in milliseconds by the clock of the server.
  private static func age(modified: String?, date: String?, wallMs: Int64) -> Int64? {
    guard let modified = modified.flatMap({ HTTPDate.parse($0, wallMs: wallMs) }),
      let date = date.flatMap({ HTTPDate.parse($0, wallMs: wallMs) })
    else { return nil }
    return date - modified
  }

  /// What `If-Range` carries; nil where nobody can tell whether two answers have the same bytes. A date only where
  /// there is no ETag (RFC 9110 section 13.1.5).
  var validator: String? {
    if let etag {
      // That of a fresh file only where a digest of the whole shows in the end what came.
      return etag.hasPrefix("W/") || (isFresh && digests.isEmpty) ? nil : etag
    }
    return isDateStrong ? modified : nil
  }

  /// No digest is known that is computed while the file comes.
  var lacksDigest: Bool { !digests.contains { $0.algorithm != .md5 } }

  /// Ranges of it can be had that belong together: by what the server says of each, or by digests in the end.
  func hasRanges(_ expected: ExpectedContent) -> Bool {
    acceptsRanges && size > 0 && (validator != nil || expected.isTied)
  }

  /// What ``TransferFacts/session`` is called by: never empty.
  var name: String { etag ?? modified ?? "\(size) bytes" }

  // MARK: - In the notes of a session

  private enum Key {
    static let size = "size", etag = "etag", modified = "modified", date = "date", ranges = "ranges"
    static let digests = "digests", end = "end", fresh = "fresh", version = "version", name = "name"
  }

  var notes: [String: String] {
    var notes = [Key.size: String(size)]
    notes[Key.etag] = etag
    notes[Key.modified] = modified
    if isDateStrong { notes[Key.date] = "strong" }
    if acceptsRanges { notes[Key.ranges] = "bytes" }
    if isFresh { notes[Key.fresh] = "yes" }
    if isEndUncertain { notes[Key.end] = "uncertain" }
    notes[Key.version] = versionID
    notes[Key.name] = givenName
    if !digests.isEmpty { notes[Key.digests] = digests.map(\.description).joined(separator: " ") }
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
    isDateStrong = session.notes[Key.date] != nil
    acceptsRanges = session.notes[Key.ranges] != nil
    isFresh = session.notes[Key.fresh] != nil
    isEndUncertain = session.notes[Key.end] != nil
    versionID = session.notes[Key.version]
    givenName = session.notes[Key.name]
    digests = (session.notes[Key.digests] ?? "").split(separator: " ").compactMap { Digest(text: String($0)) }
  }

  /// Of notes those by which another server can have the same version.
  static func withoutValidators(_ notes: [String: String]) -> [String: String] {
    notes.filter { $0.key == Key.size || $0.key == Key.ranges || $0.key == Key.name }
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
    if etag == nil || fields[.eTag] == nil, let modified, let other = fields[.lastModified], other != modified {
      return Failure(.sourceChanged, "the remote file changed: it was modified \(modified), and is now of \(other)")
    }
    return nil
  }
}
