import TransferEngine
package import TransferModel
import TransferProtocols

/// The format in which a manifest is written.
package enum ManifestForm: String, Sendable, CaseIterable {
  case jsonl, csv, sums, list, list0

  var form: ManifestWriter.Form {
    switch self {
    case .jsonl: .jsonl
    case .csv: .csv
    case .sums: .sums
    case .list: .list
    case .list0: .list0
    }
  }
}

/// The files of which a manifest is made: those in folders, or of a list.
package struct ManifestSources {
  /// Empty with a list.
  package var paths: [NameBytes] = []
  package var list: FileList?
  package var listFormat: ListFormat?
  package var base: NameBytes?
  package var rules: [PathRule] = []
  package var followsSymlinks = false

  package init() {}

  var selection: SourceSelection {
    var selection = SourceSelection(
      paths, list: list, base: base, rules: PathRules(rules), followsSymlinks: followsSymlinks)
    selection.listFormat = listFormat?.manifest
    return selection
  }
}

/// Totals of the files that a manifest lists.
package struct ManifestTotals: Sendable, Hashable {
  package var files: Int64 = 0
  /// Of the files whose size is given.
  package var bytes: Int64 = 0
}

/// Creates, compares and converts manifests. Needs no ledger; blocking; memory use does not grow with their length.
package struct ManifestTool: Sendable {
  let notice: @Sendable (Notice) -> Void
  /// Files that a scan leaves out.
  let ownFiles: FileNumbers

  /// - Parameters:
  ///   - output: the descriptor that the result is written to.
  ///   - path: the file that the output finally replaces; nil for none. Neither is listed by a scan.
  package init(
    output: Int32? = nil, replacing path: NameBytes? = nil, notice: @escaping @Sendable (Notice) -> Void
  ) {
    self.notice = notice
    ownFiles = FileNumbers(path.map { [$0] } ?? [], descriptors: output.map { [$0] } ?? [])
  }

  /// Lists the files in the sources.
  /// - Parameters:
  ///   - digests: names of the digest algorithms to compute for each file.
  ///   - write: receives the text piece by piece.
  /// - Throws: `.usage` for an unknown algorithm; `.noSource`, `.badList` like `add`.
  package func build(
    _ sources: ManifestSources, digests: [String], _ form: ManifestForm, write: @escaping ([UInt8]) -> Void
  ) throws(TransferError) -> SourceCounts {
    let algorithms = try Self.algorithms(digests)
    let found = try sources.selection.resolve()
    let writer = Lock(ManifestWriter(form.form, option: "--to"))
    write(writer.withLock(\.beginning))
    let counts = try ManifestScan(digests: algorithms, leavesOut: ownFiles, notice: notice).read(found) {
      entry throws(TransferError) in
      write(try writer.withLock { writer throws(TransferError) in try writer.line(entry) })
    }
    write(writer.withLock(\.end))
    return counts
  }

  static func algorithms(_ names: [String]) throws(TransferError) -> Set<DigestAlgorithm> {
    let known: [DigestAlgorithm] = [.sha256, .sha512, .sha1, .md5, .crc32c, .crc64nvme]
    return Set(
      try names.map { name throws(TransferError) in
        guard let algorithm = known.first(where: { $0.rawValue == name.lowercased() }) else {
          throw TransferError(
            .usage, "read --digest", NameBytes(name), cause: "no such algorithm",
            remedy: known.map(\.rawValue).joined(separator: ", "))
        }
        return algorithm
      })
  }

  /// Writes a manifest in another form.
  /// - Throws: `.noSource`, `.badList` for one that cannot be read, or that the form cannot represent.
  package func convert(
    _ path: NameBytes?, _ format: ListFormat?, to form: ManifestForm, write: ([UInt8]) -> Void
  ) throws(TransferError) -> ManifestTotals {
    var writer = ManifestWriter(form.form, option: "--to")
    var (leftOut, plain) = (0, 0)
    write(writer.beginning)
    try read(path, format) { entry throws(TransferError) in
      write(try writer.line(entry))
      if !writer.form.holdsURLs, entry.isElsewhere { leftOut += 1 }
      if writer.form != .jsonl, entry.key != nil || !entry.settings.isEmpty { plain += 1 }
    }
    write(writer.end)
    if leftOut > 0 {
      notice(
        .remark("left out the URLs of \(leftOut) files: \(form.rawValue) cannot contain them, jsonl and csv can"))
    }
    if plain > 0 {
      notice(.remark("left out the keys and properties of \(plain) files: of what is written here only jsonl has them"))
    }
    return ManifestTotals(files: writer.files, bytes: writer.bytes)
  }

  /// Writes a manifest whose paths are moved below another folder (``ManifestRebase``).
  /// - Parameter keepsOthers: paths that are not below `old` are left unchanged; otherwise they are an error.
  /// - Throws: as ``convert(_:_:to:write:)``; `.usage` for invalid folders; `.badList` with the line of a path outside
  ///   `old`, of one that is the same as another afterwards, or of a URL that the form cannot represent: without it the
  ///   file would be fetched from another place.
  package func rebase(
    _ path: NameBytes?, _ format: ListFormat?, from old: NameBytes, to new: NameBytes, keepsOthers: Bool,
    to form: ManifestForm, write: ([UInt8]) -> Void
  ) throws(TransferError) -> ManifestTotals {
    let rebase = try ManifestRebase(from: old, to: new)
    var writer = ManifestWriter(form.form, option: "--form")
    write(writer.beginning)
    try readDistinct(path, format, moved: { rebase.entry($0)?.path ?? $0.path }) { entry throws(TransferError) in
      guard writer.form.holdsURLs || !entry.isElsewhere else {
        throw TransferError(
          .badList, "rebase", path ?? NameBytes("standard input"),
          cause: "line \(entry.line): \"\(entry.path.embedded)\" has a URL, and \(form.rawValue) cannot contain it",
          remedy: "give --form jsonl or --form csv")
      }
      guard let moved = rebase.entry(entry) ?? (keepsOthers ? entry : nil) else {
        throw TransferError(
          .badList, "rebase", path ?? NameBytes("standard input"),
          cause: "line \(entry.line): \"\(entry.path.embedded)\" is not below \"\(old.embedded)\"",
          remedy: "give --keep-others, or another --from")
      }
      write(try writer.line(moved))
    }
    write(writer.end)
    return ManifestTotals(files: writer.files, bytes: writer.bytes)
  }

  /// Compares files below a folder with their entries in the manifest.
  /// - Parameters:
  ///   - readsContent: compares digests, too.
  ///   - found: receives each path with its entry in the manifest and the finding.
  /// - Throws: `.noSource`, `.badList` for a manifest that cannot be read.
  package func check(
    _ path: NameBytes?, _ format: ListFormat?, below folder: NameBytes, readsContent: Bool,
    found: (ListedFile, Result<LocalFinding, Failure>) -> Void
  ) throws(TransferError) -> VerifyResult {
    var result = VerifyResult()
    let root = AbsolutePath.of(folder)
    guard FolderPlace.isFolder(folder) else {
      throw TransferError(
        .noSource, "open folder", folder, cause: "there is no such folder", remedy: "give another --folder")
    }
    try read(path, format) { entry throws(TransferError) in
      let file = ListedFile(path: entry.path, size: entry.size, digest: readsContent ? entry.digests.first : nil)
      let finding = Result { () throws(Failure) in
        try KeptFile(root.appending(entry.path), below: root)
          .compare(size: entry.size, digests: readsContent ? entry.digests : [])
      }
      result.count(finding, isSizeKnown: entry.size != nil)
      found(file, finding)
    }
    return result
  }

  /// The entry of one file in a manifest.
  package struct ListedFile: Sendable {
    package var path: NameBytes
    /// Bytes; nil when it is not given.
    package var size: Int64?
    /// The strongest digest that is compared.
    package var digest: Digest?
  }

  /// A line of a checksum file.
  package static func sumLine(_ digest: String, _ name: [UInt8]) -> [UInt8] { ManifestWriter.sum(digest, name) }

  func read(
    _ path: NameBytes?, _ format: ListFormat?, _ body: (ManifestEntry) throws(TransferError) -> Void
  ) throws(TransferError) {
    do throws(TransferError) {
      try ListedDownloads(path, format?.manifest, base: nil, notice: notice).readManifest(body)
    } catch {
      // The same reader takes lists of files to fetch.
      guard error.operation == "read list" else { throw error }
      throw TransferError(error.kind, "read manifest", error.subject, cause: error.cause, remedy: error.remedy)
    }
  }
}
