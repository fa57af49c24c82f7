public import TransferModel
public import TransferProtocols

/// One file to fetch, from an argument, a list or a manifest.
public struct DownloadEntry: Sendable, Hashable {
  public var url: DownloadURL
  /// Its path relative to the target folder.
  public var path: NameBytes
  public var expected: ExpectedContent

  public init(url: DownloadURL, path: NameBytes, expected: ExpectedContent = ExpectedContent()) {
    (self.url, self.path, self.expected) = (url, path, expected)
  }

  /// The file of a plain URL, named after its last component; with a base, under its path below that.
  /// - Throws: `.usage` if the name is impossible for a local file.
  public init(_ url: DownloadURL, base: DownloadURL?, expected: ExpectedContent = ExpectedContent())
    throws(TransferError)
  {
    self.init(url: url, path: base.flatMap(url.path(below:)) ?? url.name, expected: expected)
    let (path, isFolder) = (self.path, url.isFolder)
    // The contents of a folder are stored below this path.
    let checked = isFolder && path.bytes.last == 0x2F ? NameBytes(Array(path.bytes.dropLast())) : path
    if isFolder, path.isEmpty { return }
    let slash = url.hasEncodedSlash ? "which has an encoded slash, and a local file name cannot contain a slash" : nil
    if let cause = slash ?? Self.fault(in: checked) {
      throw TransferError(
        .usage, "read URL", NameBytes("\(url)"), cause: "it names \"\(path.embedded)\", \(cause)",
        remedy: "give the local name of the file in a list (--files-from)")
    }
  }

  /// Why this relative path is not possible locally; nil if it is.
  static func fault(in path: NameBytes) -> String? {
    if path.bytes.contains(0) { return "which contains a NUL byte" }
    if path.bytes.count > 4_095 { return "which is too long for a local path (\(path.bytes.count) bytes)" }
    for component in path.bytes.split(separator: 0x2F, omittingEmptySubsequences: false) {
      if component.isEmpty { return "which has an empty component" }
      if component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) { return "which has \".\" or \"..\"" }
      if component.count > 255 { return "which has a component of \(component.count) bytes; the limit is 255" }
    }
    return nil
  }
}
