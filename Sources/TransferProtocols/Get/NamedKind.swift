import TransferModel

/// What the name of a file implies for the answers to a request for it.
struct NamedKind {
  /// The ending of the name, in lower case and without the dot; empty for none.
  var ending: String { ext }
  private let ext: String

  /// - Parameter name: decoded, without a query.
  init(_ name: NameBytes) {
    let ext = FileName(name.lastComponent.bytes).ext.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    self.ext = String(decoding: ext, as: UTF8.self)
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

  private static let codings: [String: Set<String>] = [
    "gzip": ["gz", "tgz"], "x-gzip": ["gz", "tgz"], "br": ["br"], "zstd": ["zst", "tzst"], "compress": ["z"],
    "x-compress": ["z"], "bzip2": ["bz2"], "x-bzip2": ["bz2"], "xz": ["xz", "txz"], "x-xz": ["xz", "txz"],
  ]

  /// Whether the server reports the stored format as a content coding, as Apache does with AddEncoding: the file then
  /// consists of the bytes as they are sent.
  func isStored(in coding: String) -> Bool { Self.codings[coding.lowercased()]?.contains(ext) ?? false }

  /// The name is that of a file that may be stored in some coding: nothing is removed from its body.
  var mayBeCoded: Bool { Self.codings.values.contains { $0.contains(ext) } }
}
