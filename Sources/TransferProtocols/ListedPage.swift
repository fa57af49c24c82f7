public import TransferModel

/// A page of the contents of a remote folder.
public struct ListedPage: Sendable, Hashable {
  public var objects: [ListedObject]
  /// Nothing follows it.
  public var isLast: Bool
  /// Entries of this page and those before it, and folder markers among them.
  public var found: Int
  public var skipped: Int

  public init(objects: [ListedObject], isLast: Bool, found: Int, skipped: Int) {
    (self.objects, self.isLast, self.found, self.skipped) = (objects, isLast, found, skipped)
  }
}

/// An entry of a listing: a file, or a folder to be listed too (``NameBytes/isFolder``).
public struct ListedObject: Sendable, Hashable {
  /// What the engine decides, which knows the local files.
  public enum Outcome: Sendable, Hashable {
    case wanted
    /// It was fetched before, and exists locally.
    case unchanged
    case refused(Failure)
  }

  public var key: NameBytes
  /// Relative to the listed folder; unchecked text from the server.
  public var path: NameBytes
  /// Bytes; nil if unknown.
  public var size: Int64?
  /// As received, with quotes; empty for none.
  public var etag: String
  public var outcome = Outcome.wanted
  /// The relative path with its case folded, if the target folder does not distinguish names that differ only in case;
  /// else nil. Set by the engine.
  public var folded: NameBytes?

  public init(key: NameBytes, path: NameBytes, size: Int64? = nil, etag: String = "") {
    (self.key, self.path, self.size, self.etag) = (key, path, size, etag)
  }
}
