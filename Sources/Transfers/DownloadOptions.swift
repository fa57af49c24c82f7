public import TransferModel

/// Options of one `pull`.
public struct DownloadOptions: Sendable {
  public enum Source: Sendable, Hashable {
    /// The URL of a file, or, if there is a ``DownloadOptions/baseURL``, a path below that.
    case url(String)
    /// A list of URLs and paths.
    case list(DownloadList)

    var isList: Bool { if case .list = self { true } else { false } }
  }

  public var sources: [Source]
  /// The URL to which relative paths in ``sources`` are appended. Files below it keep their relative path in
  /// ``folder``; all others are stored there under the last component of their path.
  public var baseURL: String?
  /// The folder for the files; created if it is missing and its parent exists.
  public var folder: NameBytes
  /// The expected digest of the one URL that is named.
  public var digest: Digest?
  /// Replaces existing files.
  public var overwrites = false
  /// How many ranges of one file are fetched at a time, one of ``segmentCounts``; nil for four.
  public var segments: Int?
  /// Files get the modification time that their server reports.
  public var keepsTime = true
  /// Received zeros occupy no space on the disk.
  public var isSparse = false
  /// Files get the names that their servers give in `Content-Disposition`, made safe for any folder: one component, not
  /// hidden. If the server gives none, a file keeps its own name.
  public var usesRemoteNames = false
  /// Blocks of existing files that have not changed are copied, as far as their servers publish checksums: the file
  /// `URL.zsync` is requested for each file that would be replaced. Only with ``overwrites``.
  public var usesZsync = false
  /// The receipts of the files have the SHA-256 of their content, for which each is read once more.
  public var recordsSHA256 = false
  /// A program with its arguments, found in `PATH` and started without a shell, that supplies the URL from which a file
  /// is requested: it reads the key of the file from standard input and writes one URL to standard output. It is run
  /// for each file before its first request, and when a URL has expired or is refused. Stored with the batch; contains
  /// no secret.
  public var urlCommand: [String] = []
  public var name: String?
  public var labels: [String: String] = [:]
  public var priority = 0
  /// The configured job that records it.
  public var job: String?
  /// Options of the protocol, by their long names without dashes.
  public var options: [String: OptionValue] = [:]
  /// A reference to a credential, as ``BatchSettings/auth``.
  public var auth: String?
  /// Callbacks that report the results of the files.
  public var callbacks: [CallbackSetting] = []
  public var caFile: String?

  /// Valid values of ``segments``.
  public static let segmentCounts = 1...64

  public init(_ sources: [Source], to folder: NameBytes) { (self.sources, self.folder) = (sources, folder) }

  /// Splits a command as a person writes it: words are separated by blanks, and double quotes enclose blanks that
  /// belong to a word. No shell reads it. nil when a quote is not closed, or the text has no words.
  package static func words(_ text: String) -> [String]? {
    var (words, word, isQuoted): ([String], String?, Bool) = ([], nil, false)
    for character in text {
      switch character {
      case "\"":
        isQuoted.toggle()
        word = word ?? ""
      case " " where !isQuoted, "\t" where !isQuoted:
        if let whole = word { words.append(whole) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if let whole = word { words.append(whole) }
    return isQuoted || words.first?.isEmpty ?? true ? nil : words
  }

  /// Options for single files.
  public init(urls: [String], folder: NameBytes) { self.init(urls.map { .url($0) }, to: folder) }
}

/// A file that lists what to fetch: URLs and paths, or a published manifest.
public struct DownloadList: Sendable, Hashable {
  /// nil for standard input.
  public var path: NameBytes?
  /// nil to detect it.
  public var format: ListFormat?

  public init(path: NameBytes?, format: ListFormat? = nil) { (self.path, self.format) = (path, format) }
}
