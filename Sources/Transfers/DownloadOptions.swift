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
  /// Files are called what their servers call them in `Content-Disposition`, made fit for any folder: one component,
  /// nothing hidden. A file whose server says nothing keeps its own name.
  public var usesRemoteNames = false
  /// A program with its arguments, found in `PATH` and started without a shell, that gives the URL at which a file is
  /// asked for: the key of the file on its standard input, one URL on its standard output. Asked for each file before
  /// its first request, and when a URL has expired or is refused. Kept with the batch; holds no secret.
  public var urlCommand: [String] = []
  public var name: String?
  public var labels: [String: String] = [:]
  public var priority = 0
  /// The configured job that records it.
  public var job: String?
  /// What the protocol is told, by the long names of its options without dashes.
  public var options: [String: OptionValue] = [:]
  /// A reference to a credential, as ``BatchSettings/auth``.
  public var auth: String?
  /// Who is told what became of the files.
  public var callbacks: [CallbackSetting] = []
  public var caFile: String?

  /// What ``segments`` may be.
  public static let segmentCounts = 1...64

  public init(_ sources: [Source], to folder: NameBytes) { (self.sources, self.folder) = (sources, folder) }

  /// A command as a person writes it: words with blanks between them, and double quotes around blanks that belong to a
  /// word. No shell reads it. nil when a quote is not closed, or the text has no words.
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
