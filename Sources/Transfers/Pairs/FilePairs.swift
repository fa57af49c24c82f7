import TransferEngine
package import TransferModel
import TransferProtocols

/// Files with a URL each, as another program asks for them: recorded like a push or a pull, and looked up in the ledger
/// afterwards. Blocking.
package struct FilePairs {
  private var pairs: [FilePair]
  private let direction: Direction
  /// The names of uploads at their destination, by their indices in ``pairs``.
  private var names: [Int: RemoteName] = [:]
  private var added: [AddedFiles] = []

  private struct RemoteName: Hashable { var place: String, key: NameBytes }
  /// Files that are recorded together.
  private struct Group: Hashable { var folder: NameBytes, destination: String? }
  private struct Recording { let store: TransferStore, notice: @Sendable (Notice) -> Void }

  /// A second pair with the same target is refused.
  package init(_ pairs: [FilePair], _ direction: Direction) {
    (self.pairs, self.direction) = (pairs, direction)
    FilePair.refuseRepeated(&self.pairs, direction)
  }

  /// Records all files that can be transferred, and for each of the others an event with its fault. Durable on return,
  /// except for these events: without them the other files can still be transferred.
  /// - Throws: errors of the store.
  package mutating func record(
    in store: String, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> AddedFiles {
    let ledger = Recording(store: TransferStore(at: store), notice: notice)
    var groups: [Group: [Int]] = [:]
    for place in pairs.indices where pairs[place].fault == nil { groups[group(place), default: []].append(place) }
    for (group, places) in groups.sorted(by: { $0.value[0] < $1.value[0] }) {
      try record(places[...], of: group, in: ledger)
    }
    do throws(TransferError) { try ledger.store.note(refused: pairs) } catch {
      notice(.remark("files that cannot be moved are not recorded: \(error.cause)"))
    }
    return AddedFiles(of: added)
  }

  /// Records a list of files. A list with an invalid entry is refused as a whole; it is then halved until the invalid
  /// entry is isolated.
  private mutating func record(
    _ places: ArraySlice<Int>, of group: Group, in ledger: Recording
  ) throws(TransferError) {
    do throws(TransferError) {
      added.append(try direction == .upload ? upload(places, group, ledger) : download(places, group, ledger))
    } catch {
      guard [.usage, .badList, .noSource, .config].contains(error.kind) else { throw error }
      let first = places[places.startIndex]
      guard places.count > 1 else {
        return pairs[first].fault = FilePair.error("move", pairs[first].path, error.cause)
      }
      let middle = places.startIndex + places.count / 2
      try record(places[..<middle], of: group, in: ledger)
      try record(places[middle...], of: group, in: ledger)
    }
  }

  private func download(
    _ places: ArraySlice<Int>, _ group: Group, _ ledger: Recording
  ) throws(TransferError) -> AddedFiles {
    var writer = ManifestWriter(.jsonl)
    var text = writer.beginning
    for place in places {
      let urls = [ManifestURL(pairs[place].visibleURL)]
      text += try writer.line(ManifestEntry(location: .urls(urls), path: pairs[place].path.lastComponent, line: 1))
    }
    return try UnnamedFile.holding(text + writer.end) { list throws(TransferError) in
      var options = DownloadOptions([.list(DownloadList(path: list, format: .jsonl))], to: group.folder)
      options.overwrites = true
      return try ledger.store.add(options, notice: ledger.notice).files
    }
  }

  private mutating func upload(
    _ places: ArraySlice<Int>, _ group: Group, _ ledger: Recording
  ) throws(TransferError) -> AddedFiles {
    let settings = BatchSettings(destination: group.destination ?? "")
    let target = try UploadTarget(settings)
    for place in places {
      let name = pairs[place].path.lastComponent
      names[place] = RemoteName(
        place: target.keyPlace,
        key: target.destination.key(forRelativePath: name, isSingleFile: !target.destination.isInto))
    }
    var options = UploadOptions(settings: settings, followSymlinks: true, base: group.folder)
    guard target.destination.isInto else {
      let file = pairs[places[places.startIndex]]
      guard FileText.isFile(file.path) else {
        throw FilePair.error("upload", file.path, "it is not a file, or does not exist")
      }
      options.base = nil
      return try ledger.store.add([file.path], options, notice: ledger.notice).files
    }
    return try UnnamedFile.holding(places.flatMap { pairs[$0].path.bytes + [0] }) { list throws(TransferError) in
      options.list = FileList(path: list, separator: .nul, skipsMissing: true)
      return try ledger.store.add([], options, notice: ledger.notice).files
    }
  }

  /// Uploads that keep their names share one batch; an upload with another name at the destination gets its own batch.
  private func group(_ place: Int) -> Group {
    let file = pairs[place]
    let folder = NameBytes(Array(file.path.bytes.dropLast(file.path.lastComponent.bytes.count)))
    guard direction == .upload, let url = file.url.utf8 else { return Group(folder: folder, destination: nil) }
    // Braces in an http(s) URL would be a template.
    let exact = FilePair.isInBucket(file.url) ? url : url.replacing("{", with: "%7B").replacing("}", with: "%7D")
    guard let slash = exact.lastIndex(of: "/"), let whole = try? Destination(parsing: exact),
      case let into = String(exact[...slash]), let above = try? Destination(parsing: into), above.isInto,
      above.key(forRelativePath: file.path.lastComponent, isSingleFile: false) == whole.prefix
    else { return Group(folder: folder, destination: exact) }
    return Group(folder: folder, destination: into)
  }

  /// What became of each pair if nothing could be recorded.
  package func outcomes(_ error: TransferError?) -> [PairOutcome] { pairs.map { PairOutcome($0, error) } }

  /// What became of each pair, from the ledger.
  /// - Parameter error: why some could not be transferred.
  /// - Throws: errors of the store.
  package func outcomes(_ error: TransferError?, in store: String) throws(TransferError) -> [PairOutcome] {
    if added.isEmpty { return outcomes(error) }
    let opened = try OpenStore(at: store, .readOnly, clock: SystemClock())
    defer { opened.close() }
    return try opened.read { reader in
      let rows = try rows(reader)
      return try pairs.indices.map { try PairOutcome(pairs[$0], rows[$0], error, reader) }
    }
  }

  /// The newest row of each recorded file, by indices in ``pairs``.
  private func rows(_ reader: StoreReader) throws -> [Int: FileRow] {
    var wanted: [NameBytes: [Int]] = [:]
    for place in pairs.indices where pairs[place].fault == nil { wanted[pairs[place].path, default: []].append(place) }
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
