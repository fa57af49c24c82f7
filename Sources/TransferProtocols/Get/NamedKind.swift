import TransferModel

/// What the name of a file implies for the answers to a request for it.
struct NamedKind {
  /// The ending of the name, in lower case and without the dot; empty for none.
  var ending: String { ext }
  private let ext: String
  /// What is between the dots of the name and behind the last one, in lower case.
  private let endings: Set<String>

  /// - Parameter name: decoded, without a query.
  init(_ name: NameBytes) {
    func lowercased(_ bytes: some Sequence<UInt8>) -> String {
      String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }
    let last = name.lastComponent.bytes
    ext = lowercased(FileName(last).ext)
    endings = Set(last.split(separator: 0x2E, omittingEmptySubsequences: false).dropFirst().map(lowercased))
  }

  private static let pages: Set<String> = ["html", "htm", "xhtml", "xht", "shtml"]
  private static let programs: Set<String> = ["php", "asp", "aspx", "jsp", "cgi"]
  /// Texts that some servers send as pages.
  private static let texts: Set<String> = ["md", "txt"]

  /// A web page by its name.
  var isPage: Bool { Self.pages.contains(ext) }

  /// The name of a program, whose answers usually are web pages.
  var isProgram: Bool { Self.programs.contains(ext) }

  /// The name says that the file is no web page: it ends in a dot and two to eight letters and digits, one of them a
  /// letter, except names of pages.
  var isNoPage: Bool {
    (2...8).contains(ext.utf8.count) && !isPage && !isProgram && !Self.texts.contains(ext)
      && ext.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
      && ext.utf8.contains { $0 > 0x39 }
  }

  private static let gzip: Set<String> = [
    "gz", "tgz", "taz", "tpz", "gzip", "bgz", "svgz", "emz", "wmz", "adz", "cpgz", "mgz",
  ]

  private static let codings: [String: Set<String>] = [
    "gzip": gzip, "x-gzip": gzip, "br": ["br"], "zstd": ["zst", "tzst"], "compress": ["z"],
    "x-compress": ["z"], "bzip2": ["bz2"], "x-bzip2": ["bz2"], "xz": ["xz", "txz"], "x-xz": ["xz", "txz"],
  ]

  /// Whether the server reports the stored format as a content coding, as Apache does with AddEncoding: the file then
  /// consists of the bytes as they are sent.
  func isStored(in coding: String) -> Bool { Self.codings[coding.lowercased()]?.contains(ext) ?? false }

  /// The name is that of a file that may be stored compressed: no coding is removed from its body. To mod_mime, every
  /// ending of a name counts for gzip: `dump.gz.1` may be compressed.
  var mayBeCompressed: Bool {
    !Self.gzip.isDisjoint(with: endings) || Self.codings.values.contains { $0.contains(ext) }
  }
}
