public import TransferModel
public import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reads the files in a list: URLs and paths, or a published manifest. Blocking; needs memory for one block, except for
/// Metalink and bags, whose size is limited.
public struct ListedDownloads {
  /// nil for standard input.
  let path: NameBytes?
  /// nil detects it.
  let format: ManifestFormat?
  /// The base URL of relative paths.
  let base: DownloadURL?
  /// Whether a list without any bytes is accepted as one that names no files. It may also be a failed download.
  let mayBeEmpty: Bool
  let notice: @Sendable (Notice) -> Void

  public init(
    _ path: NameBytes?, _ format: ManifestFormat?, base: DownloadURL?, mayBeEmpty: Bool = true,
    notice: @escaping @Sendable (Notice) -> Void
  ) {
    (self.path, self.format, self.base, self.mayBeEmpty, self.notice) = (path, format, base, mayBeEmpty, notice)
  }

  private var name: NameBytes { path ?? NameBytes("standard input") }

  /// - Throws: `.noSource` if it cannot be read; `.badList` with the invalid line; errors thrown by `body`.
  public func read(_ body: (DownloadEntry) throws(TransferError) -> Void) throws(TransferError) {
    try readManifest { found throws(TransferError) in try body(entry(found)) }
  }

  /// The same with the entries as listed, before paths are resolved against a base.
  public func readManifest(_ body: (ManifestEntry) throws(TransferError) -> Void) throws(TransferError) {
    let file = try OpenBlocks(path, name)
    if file.isFolder { return try readBag(body) }
    let block = try file.next(fillsUp: format == nil)
    if format == nil, S3Inventory.isOne(block) { return try readInventory(block, file, body) }
    try readManifest(file, beginning: block, body)
  }

  private func readManifest(
    _ file: OpenBlocks, beginning: [UInt8], _ body: (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) {
    var block = beginning
    if block.isEmpty, !mayBeEmpty {
      throw TransferError(
        .badList, "read list", name, cause: "it is empty: it has no bytes",
        remedy: "check the program or download that made it")
    }
    let reader = ManifestReader(format ?? ManifestFormat(name: name.uncompressed, front: block), name: name)
    while !block.isEmpty {
      try block.withUnsafeBufferPointer { block throws(TransferError) in
        try reader.read(UnsafeRawBufferPointer(block), isLast: false, body)
      }
      block = try file.next(fillsUp: false)
    }
    try reader.read([], body)
    if reader.isSigned { notice(.remark("the signature of \(name.embedded) was not checked")) }
  }

  private func entry(_ found: ManifestEntry) throws(TransferError) -> DownloadEntry {
    var expected = ExpectedContent(size: found.size, digests: found.digests)
    if let pieces = found.pieces, pieces.count <= Self.mostPieces { expected.pieces = pieces }
    switch found.location {
    case .relative(let path):
      guard let base else {
        throw TransferError(
          .badList, "read list", name, cause: "line \(found.line): it has a path but no URL",
          remedy: "name the base URL of the paths with --base-url")
      }
      return DownloadEntry(url: try base.appending(path), path: found.path, expected: expected)
    case .urls(let urls):
      let url = try DownloadURL(urls[0].text)
      expected.mirrors = mirrors(of: url, urls)
      // The list gives no name besides that of the URL.
      guard found.path == url.name else { return DownloadEntry(url: url, path: found.path, expected: expected) }
      return try DownloadEntry(url, base: base, expected: expected)
    }
  }

  /// With more pieces the row of the file would be too long; then only the digest of the whole file is used.
  private static let mostPieces = 65_536
  private static let mostMirrors = 31

  /// The other URLs of a file, on web servers. Objects of buckets have no mirrors.
  private func mirrors(of url: DownloadURL, _ urls: [ManifestURL]) -> [String] {
    guard case .web = url.origin else { return [] }
    let others = urls.dropFirst().map(\.text).filter { text in
      guard text != urls[0].text, text.lowercased().hasPrefix("http"),
        case .web(_, prefix: "")? = (try? DownloadURL(text))?.origin
      else { return false }
      return true
    }
    return Array(others.prefix(Self.mostMirrors))
  }

  // MARK: - S3 Inventory

  /// The listed objects: name, whether it is that in the bucket (otherwise a path, or a `key`, below the destination),
  /// size and digests.
  /// - Returns: the inventory, if it is one.
  func readObjects(
    _ body: (NameBytes, _ isKey: Bool, Int64?, [Digest]) throws(TransferError) -> Void
  ) throws(TransferError) -> S3Inventory? {
    // Opened once: it may be a pipe.
    let file = try OpenBlocks(path, name)
    if file.isFolder {
      try readBag { entry throws(TransferError) in try body(entry.path, false, entry.size, entry.digests) }
      return nil
    }
    let block = try file.next(fillsUp: true)
    if S3Inventory.isOne(block) {
      let inventory = try InventoryFile(block, file, path)
      try inventory.read { object, _ throws(TransferError) in
        try body(object.key, true, object.size, object.md5.map { [$0] } ?? [])
      }
      return inventory.inventory
    }
    try readManifest(file, beginning: block) { entry throws(TransferError) in
      try body(entry.key ?? entry.path, false, entry.size, entry.digests)
    }
    return nil
  }

  /// Only the newest versions of objects are files of the manifest.
  private func readInventory(
    _ block: [UInt8], _ file: OpenBlocks, _ body: (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) {
    let inventory = try InventoryFile(block, file, path)
    var folders = 0
    try inventory.read { object, file throws(TransferError) in
      guard let entry = try object.entry(of: file) else { return folders += 1 }
      try body(entry)
    }
    if folders > 0 {
      notice(.remark("left out objects that stand for folders, because their names end with a slash: \(folders)"))
    }
  }

  // MARK: - Bags

  private func readBag(_ body: (ManifestEntry) throws(TransferError) -> Void) throws(TransferError) {
    let fetch = try bagText("fetch.txt")
    let names = DigestAlgorithm.allCases.map { "manifest-\($0.rawValue).txt" }.filter { file in
      name.appending(NameBytes(file)).withCString { access($0, F_OK) } == 0
    }
    let manifests = try names.map { file throws(TransferError) in try bagText(file) }
    try BagIt.read(fetch: fetch, manifests: manifests, body)
  }

  private func bagText(_ file: String) throws(TransferError) -> BagIt.Text {
    let path = name.appending(NameBytes(file))
    let file = try OpenBlocks(path, path)
    var (text, block): ([UInt8], [UInt8]) = ([], try file.next(fillsUp: true))
    while !block.isEmpty, text.count <= BagIt.largest {
      text += block
      block = try file.next(fillsUp: true)
    }
    return BagIt.Text(path, text)
  }
}
