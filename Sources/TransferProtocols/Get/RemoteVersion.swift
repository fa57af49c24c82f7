import HTTPTypes
import TransferModel

/// One version of a remote file, as an answer describes it; kept in the notes of the session.
struct RemoteVersion: Sendable, Hashable {
  /// Bytes.
  var size: Int64
  /// As received, including quotes and `W/`; nil for none.
  var etag: String?
  /// The `Last-Modified` field as received.
  var modified: String?
  /// Whether ``modified`` distinguishes this version from all others.
  var isDateStrong = false
  /// Whether the server has sent a range.
  var acceptsRanges = false
  /// The file was changed so shortly before the answer that another version could still get the same ETag: nginx 1.22
  /// derives it from the time in seconds and the length, and calls it strong.
  var isFresh = false
  /// The length was known only when the connection ended, so it is uncertain whether the file is complete.
  var isEndUncertain = false
  /// The server sent it as a web page.
  var isPage = false
  /// Digests of the whole file according to its server.
  var digests: [Digest] = []
  /// The server's own ID of the version; nil for none.
  var versionID: String?
  /// The file name sent by the server, sanitized for any folder; nil if it was not requested.
  var givenName: String?
  /// Permissions and owner that the server has stored with the file, as far as they are to be kept.
  var access = FileAccess()

  init(size: Int64) { self.size = size }

  /// The version in an answer with these fields, for a file of `size` bytes; `isWhole` if its body is the whole file.
  init(size: Int64, _ fields: HTTPFields, isWhole: Bool, wallMs: Int64) {
    self.size = size
    etag = fields[.eTag].flatMap { $0.isEmpty ? nil : $0 }
    modified = fields[.lastModified]
    isPage = fields.announcesPage
    let age = Self.age(modified: modified, date: fields[.date], wallMs: wallMs)
    // If a minute lies between the change and the answer (RFC 9110 section 8.8.2.2), a second change in the same second
    // would have been visible, even if the clocks differ slightly.
    isDateStrong = age.map { $0 >= 60_000 } ?? false
    // Two whole seconds, because the clock of a file system may be a few milliseconds behind the one of answers.
    isFresh = age.map { $0 < 2_000 } ?? false
    digests = ToldDigests.all(fields, isWhole: isWhole)
  }

  /// Age of the file when the answer was made, in milliseconds by the clock of the server.
  private static func age(modified: String?, date: String?, wallMs: Int64) -> Int64? {
    guard let modified = modified.flatMap({ HTTPDate.parse($0, wallMs: wallMs) }),
      let date = date.flatMap({ HTTPDate.parse($0, wallMs: wallMs) })
    else { return nil }
    return date - modified
  }

  /// The value of `If-Range`; nil if it is uncertain whether two answers have the same bytes. A date is used only if
  /// there is no ETag (RFC 9110 section 13.1.5).
  var validator: String? {
    if let etag {
      // The ETag of a fresh file is used only if a digest of the whole file will finally check the content.
      return etag.hasPrefix("W/") || (isFresh && digests.isEmpty) ? nil : etag
    }
    return isDateStrong ? modified : nil
  }

  /// Whether no digest is known that is computed while the file arrives.
  var lacksDigest: Bool { !digests.contains { $0.algorithm != .md5 } }

  /// Whether ranges that belong together are available: identified by the validator in each answer, or by digests in
  /// the end.
  func hasRanges(_ expected: ExpectedContent) -> Bool {
    acceptsRanges && size > 0 && (validator != nil || expected.isTied)
  }

  /// The ID of ``TransferFacts/session``: never empty.
  var name: String { etag ?? modified ?? "\(size) bytes" }

  // MARK: - Notes of a session

  private enum Key {
    static let size = "size", etag = "etag", modified = "modified", date = "date", ranges = "ranges"
    static let digests = "digests", end = "end", fresh = "fresh", version = "version", name = "name", page = "page"
  }

  var notes: [String: String] {
    var notes = [Key.size: String(size)]
    notes[Key.etag] = etag
    notes[Key.modified] = modified
    if isDateStrong { notes[Key.date] = "strong" }
    if acceptsRanges { notes[Key.ranges] = "bytes" }
    if isFresh { notes[Key.fresh] = "yes" }
    if isEndUncertain { notes[Key.end] = "uncertain" }
    if isPage { notes[Key.page] = "yes" }
    notes[Key.version] = versionID
    notes[Key.name] = givenName
    if !digests.isEmpty { notes[Key.digests] = digests.map(\.description).joined(separator: " ") }
    return notes.merging(access.notes) { $1 }
  }

  /// nil if the server has not identified the version yet.
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
    isPage = session.notes[Key.page] != nil
    versionID = session.notes[Key.version]
    givenName = session.notes[Key.name]
    access = FileAccess(notes: session.notes)
    digests = (session.notes[Key.digests] ?? "").split(separator: " ").compactMap { Digest(text: String($0)) }
  }

  /// The notes that other servers with the same version share.
  static func withoutValidators(_ notes: [String: String]) -> [String: String] {
    notes.filter { [Key.size, Key.ranges, Key.name, Key.page].contains($0.key) }
  }

  // MARK: - Comparing with later answers

  /// Whether an answer with these fields has the validator by which the requests distinguish versions. If a proxy
  /// drops it, and `If-Range` too, nothing shows of which version a range is. RFC 9110 section 15.3.7 requires an ETag
  /// in a range if the complete answer has one.
  func isNamed(in fields: HTTPFields) -> Bool {
    if validator == nil { return true }
    return etag == nil ? fields[.lastModified] != nil && !hasNewETag(in: fields) : fields[.eTag] != nil
  }

  /// The ranges were identified by their date because the first answer had no ETag, and this one has one: two such
  /// ETags may name two versions of the same date.
  func hasNewETag(in fields: HTTPFields) -> Bool { etag == nil && validator != nil && fields[.eTag]?.isEmpty == false }

  /// Why an answer with these fields belongs to another version; nil if nothing in it shows that.
  func change(in fields: HTTPFields, size now: Int64?) -> Failure? {
    if let etag, let other = fields[.eTag], other != etag {
      return Failure(.sourceChanged, "the remote file changed: its ETag was \(etag) and is \(other)")
    }
    if let now, now != size {
      return Failure(.sourceChanged, "the remote file changed its size from \(size) to \(now) bytes")
    }
    if etag == nil || fields[.eTag] == nil, let modified, let other = fields[.lastModified], other != modified {
      return Failure(.sourceChanged, "the remote file changed: its modification time was \(modified) and is \(other)")
    }
    return nil
  }
}
