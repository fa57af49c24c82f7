import TransferEngine
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The files of one call by HTCondor: recorded like a push or a pull, and looked up in the ledger afterwards. Blocking.
package struct CondorTransfers {
  package private(set) var files: [CondorFile]
  let direction: Direction
  private let store: TransferStore
  private let notice: @Sendable (Notice) -> Void
  /// The names of uploads at their destination, by their indices in ``files``.
  private var names: [Int: RemoteName] = [:]
  private var added: [AddedFiles] = []

  private struct RemoteName: Hashable { var place: String, key: NameBytes }
  /// Files that are recorded together.
  private struct Group: Hashable { var folder: NameBytes, destination: String? }

  package init(
    _ files: [CondorFile], _ direction: Direction, store: String, notice: @escaping @Sendable (Notice) -> Void
  ) {
    (self.files, self.direction, self.notice) = (files, direction, notice)
    self.store = TransferStore(at: store)
  }

  /// Records all files that can be transferred; the others have a fault. Durable on return.
  /// - Throws: errors of the store.
  package mutating func record() throws(TransferError) -> AddedFiles {
    var groups: [Group: [Int]] = [:]
    for place in files.indices where files[place].fault == nil { groups[group(place), default: []].append(place) }
    for (group, places) in groups.sorted(by: { $0.value[0] < $1.value[0] }) { try record(places[...], of: group) }
    return AddedFiles(of: added)
  }

  /// Records a list of files. A list with an invalid entry is refused as a whole; it is then halved until the invalid
  /// entry is isolated.
  private mutating func record(_ places: ArraySlice<Int>, of group: Group) throws(TransferError) {
    do throws(TransferError) {
      added.append(try direction == .upload ? upload(places, group) : download(places, group))
    } catch {
      guard [.usage, .badList, .noSource, .config].contains(error.kind) else { throw error }
      let first = places[places.startIndex]
      guard places.count > 1 else {
        return files[first].fault = CondorFile.error("move", files[first].localName, error.cause)
      }
      let middle = places.startIndex + places.count / 2
      try record(places[..<middle], of: group)
      try record(places[middle...], of: group)
    }
  }

  private func download(_ places: ArraySlice<Int>, _ group: Group) throws(TransferError) -> AddedFiles {
    var writer = ManifestWriter(.jsonl)
    var text = writer.beginning
    for place in places {
      let urls = [ManifestURL(files[place].visibleURL)]
      text += try writer.line(ManifestEntry(location: .urls(urls), path: files[place].path.lastComponent, line: 1))
    }
    return try UnnamedFile.holding(text + writer.end) { list throws(TransferError) in
      var options = DownloadOptions([.list(DownloadList(path: list, format: .jsonl))], to: group.folder)
      options.overwrites = true
      return try store.add(options, notice: notice).files
    }
  }

  private mutating func upload(_ places: ArraySlice<Int>, _ group: Group) throws(TransferError) -> AddedFiles {
    let settings = BatchSettings(destination: group.destination ?? "")
    let target = try UploadTarget(settings)
    for place in places {
      let name = files[place].path.lastComponent
      names[place] = RemoteName(
        place: target.keyPlace,
        key: target.destination.key(forRelativePath: name, isSingleFile: !target.destination.isInto))
    }
    var options = UploadOptions(settings: settings, followSymlinks: true, base: group.folder)
    guard target.destination.isInto else {
      let file = files[places[places.startIndex]]
      guard FileText.isFile(file.path) else {
        throw CondorFile.error("upload", file.localName, "it is not a file, or does not exist")
      }
      options.base = nil
      return try store.add([file.path], options, notice: notice).files
    }
    return try UnnamedFile.holding(places.flatMap { files[$0].path.bytes + [0] }) { list throws(TransferError) in
      options.list = FileList(path: list, separator: .nul, skipsMissing: true)
      return try store.add([], options, notice: notice).files
    }
  }

  /// Uploads that keep their names share one batch; an upload with another name at the destination gets its own batch.
  private func group(_ place: Int) -> Group {
    let file = files[place]
    let folder = NameBytes(Array(file.path.bytes.dropLast(file.path.lastComponent.bytes.count)))
    guard direction == .upload, let url = file.target.utf8 else { return Group(folder: folder, destination: nil) }
    // Braces in an http(s) URL would be a template.
    let exact = file.isInBucket ? url : url.replacing("{", with: "%7B").replacing("}", with: "%7D")
    guard let slash = exact.lastIndex(of: "/"), let whole = try? Destination(parsing: exact),
      case let into = String(exact[...slash]), let above = try? Destination(parsing: into), above.isInto,
      above.key(forRelativePath: file.path.lastComponent, isSingleFile: false) == whole.prefix
    else { return Group(folder: folder, destination: exact) }
    return Group(folder: folder, destination: into)
  }

  /// The result of each file, from the ledger.
  /// - Parameter error: why some could not be transferred.
  /// - Throws: errors of the store.
  package func results(_ error: TransferError?, at path: String) throws(TransferError) -> [CondorResult] {
    if added.isEmpty { return CondorResult.all(files, direction, error) }
    let opened = try OpenStore(at: path, .readOnly, clock: SystemClock())
    defer { opened.close() }
    return try opened.read { reader in
      let rows = try rows(reader)
      return try files.indices.map { try CondorResult(files[$0], direction, rows[$0], error, reader) }
    }
  }

  /// The newest row of each recorded file, by indices in ``files``.
  private func rows(_ reader: StoreReader) throws -> [Int: FileRow] {
    var wanted: [NameBytes: [Int]] = [:]
    for place in files.indices where files[place].fault == nil { wanted[files[place].path, default: []].append(place) }
    var (rows, filter): ([Int: FileRow], RowFilter) = ([:], RowFilter())
    filter.direction = direction
    filter.withinBatches = AddedFiles(of: added).batches.map(\.rawValue)
    try find(wanted, filter, reader, into: &rows)
    // A file that an earlier call sent is in a batch of that call.
    filter.withinBatches = nil
    if wanted.values.contains(where: { $0.contains { rows[$0] == nil } }) {
      try find(wanted, filter, reader, into: &rows)
    }
    return rows
  }

  private func find(
    _ wanted: [NameBytes: [Int]], _ filter: RowFilter, _ reader: StoreReader, into rows: inout [Int: FileRow]
  ) throws {
    var after: Int64 = 0
    while case let page = try reader.files(filter, after: after, limit: 1_000), let last = page.last {
      for row in page where row.state != FileState.superseded.rawValue {
        for place in wanted[row.path] ?? [] where isOne(row, place) { rows[place] = row }
      }
      after = last.id.rawValue
    }
  }

  private func isOne(_ row: FileRow, _ place: Int) -> Bool {
    direction == .download || names[place] == RemoteName(place: row.destination, key: row.key)
  }
}

/// A temporary file for lists that must be read from a file. It has no name, so that a crash leaves nothing behind.
enum UnnamedFile {
  static func holding<Result>(
    _ bytes: [UInt8], _ body: (NameBytes) throws(TransferError) -> Result
  ) throws(TransferError) -> Result {
    let file = tmpfile()
    defer { if let file { fclose(file) } }
    guard let file, FileText.write(bytes, to: fileno(file), at: 0) else {
      let cause = String(cString: strerror(errno))
      throw TransferError(.storeIO, "write list", NameBytes("/tmp"), cause: cause, remedy: "make room in /tmp")
    }
    return try body(NameBytes("/proc/self/fd/\(fileno(file))"))
  }
}
