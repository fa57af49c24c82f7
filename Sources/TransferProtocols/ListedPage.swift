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
