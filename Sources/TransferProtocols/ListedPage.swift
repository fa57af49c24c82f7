public import TransferModel

/// A page of what a server has below a folder.
public struct ListedPage: Sendable, Hashable {
  public var objects: [ListedObject]
  /// Nothing follows it.
  public var isLast: Bool
  /// Named by this page and those before, and such of them as stand for no file: markers of folders.
  public var found: Int
  public var skipped: Int

  public init(objects: [ListedObject], isLast: Bool, found: Int, skipped: Int) {
    (self.objects, self.isLast, self.found, self.skipped) = (objects, isLast, found, skipped)
  }
}

/// What a listing names: a file, or a folder that is to be listed too (``NameBytes/isFolder``).
public struct ListedObject: Sendable, Hashable {
  /// What is to be done with it; found out by whoever knows what is here.
  public enum Verdict: Sendable, Hashable {
    case wanted
    /// It was fetched, and stands here.
    case unchanged
    case refused(Failure)
  }

  public var key: NameBytes
  /// Relative to the folder that is listed; whatever the server sent.
  public var path: NameBytes
  /// Bytes; nil where it is not told.
  public var size: Int64?
  /// As told, with its quotes; empty for none.
  public var etag: String
  public var verdict = Verdict.wanted

  public init(key: NameBytes, path: NameBytes, size: Int64? = nil, etag: String = "") {
    (self.key, self.path, self.size, self.etag) = (key, path, size, etag)
  }
}

/// How far a listing is, in the notes of its session.
struct ListingProgress {
  private enum Key { static let next = "next", found = "found", skipped = "skipped" }

  /// Where the next page begins, in the words of the protocol; nil before the first and behind the last.
  var next: String?
  var found = 0
  var skipped = 0

  init(_ session: SessionFacts?) {
    let notes = session?.notes ?? [:]
    next = notes[Key.next]
    (found, skipped) = (notes[Key.found].flatMap { Int($0) } ?? 0, notes[Key.skipped].flatMap { Int($0) } ?? 0)
  }

  var notes: [String: String] {
    [Key.next: next ?? "", Key.found: String(found), Key.skipped: String(skipped)]
  }

  /// The page that brought `objects` and left `skipped` out; `next` is where the one after it begins.
  mutating func page(_ objects: [ListedObject], skipped: Int, next: String?) -> Interpretation {
    self.next = next
    found += objects.count + skipped
    self.skipped += skipped
    return Interpretation(
      .listed(ListedPage(objects: objects, isLast: next == nil, found: found, skipped: self.skipped))
    ).with(notes: notes)
  }
}
