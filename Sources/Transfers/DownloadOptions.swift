public import TransferModel

/// What one `pull` was asked to do.
public struct DownloadOptions: Sendable {
  public enum Source: Sendable, Hashable {
    /// The URL of a file; with a ``DownloadOptions/baseURL`` also a path below that.
    case url(String)
    /// Many of them.
    case list(DownloadList)

    var isList: Bool { if case .list = self { true } else { false } }
  }

  public var sources: [Source]
  /// What relative paths in ``sources`` are below. URLs below it keep their path in ``folder``; all others go there
  /// under the last component of their path.
  public var baseURL: String?
  /// The folder that they go to; made when only it is missing.
  public var folder: NameBytes
  /// What the one URL that is named has to have.
  public var digest: Digest?
  /// Replaces files that are there.
  public var overwrites = false
  /// Ranges of one file at a time, one of ``segmentCounts``; nil for four.
  public var segments: Int?
  /// Files get the time of modification that their server says.
  public var keepsTime = true
  /// Zeros that arrive take no room on the disk.
  public var isSparse = false
  public var name: String?
  public var labels: [String: String] = [:]
  public var priority = 0
  /// What the protocol is told, by the long names of its options without dashes.
  public var options: [String: OptionValue] = [:]
  /// A reference to a credential, as ``BatchSettings/auth``.
  public var auth: String?
  public var caFile: String?

  /// What ``segments`` may be.
  public static let segmentCounts = 1...64

  public init(_ sources: [Source], to folder: NameBytes) { (self.sources, self.folder) = (sources, folder) }

  /// Single files.
  public init(urls: [String], folder: NameBytes) { self.init(urls.map { .url($0) }, to: folder) }
}

/// A file that names what is to be fetched: URLs and paths, or a manifest that somebody published.
public struct DownloadList: Sendable, Hashable {
  /// nil for standard input.
  public var path: NameBytes?
  /// nil finds out.
  public var format: ListFormat?

  public init(path: NameBytes?, format: ListFormat? = nil) { (self.path, self.format) = (path, format) }
}
