public import TransferModel

/// Writes a manifest, line by line, in a form that ``ManifestReader`` reads.
public struct ManifestWriter: Sendable {
  public enum Form: String, Sendable, CaseIterable {
    /// JSON lines with a first and a last line, so that truncation is detected.
    case jsonl
    /// A table with a header (RFC 4180).
    case csv
    /// As written by `sha256sum` and similar programs.
    case sums
    /// One path per line.
    case list
    /// Paths terminated by NUL, as `find -print0` writes.
    case list0

    /// Whether a line can contain the URL of a file.
    public var holdsURLs: Bool { self == .jsonl || self == .csv }
  }

  public let form: Form
  public private(set) var files: Int64 = 0
  /// Total size of the files whose size is known.
  public private(set) var bytes: Int64 = 0

  /// The option that selects the output format, named in remedies; nil for a command with one format.
  private let option: String?

  /// - Parameter option: the option of the command that selects the format; nil for none.
  public init(_ form: Form, option: String? = nil) { (self.form, self.option) = (form, option) }

  /// The lines before the first entry.
  public var beginning: [UInt8] {
    switch form {
    case .jsonl: Array("{\"manifest\":\"\(ManifestFrame.schema)\"}\n".utf8)
    case .csv: Array("path,size,mtime,url,mirrors,digest,piece_digests\r\n".utf8)
    case .sums, .list, .list0: []
    }
  }

  /// The lines after the last entry.
  public var end: [UInt8] {
    form == .jsonl ? Self.end(files: files, bytes: bytes) : []
  }

  /// The last line of JSON lines with this number of files.
  public static func end(files: Int64, bytes: Int64) -> [UInt8] {
    Array("{\"end\":\"\(ManifestFrame.schema)\",\"files\":\(files),\"bytes\":\(bytes)}\n".utf8)
  }

  /// One line.
  /// - Throws: `.badList` if the format cannot represent the entry.
  public mutating func line(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    let line = try text(entry)
    guard line.count <= LineSplitter.longest else {
      throw Self.fault(entry, "needs a line of \(line.count) bytes, which nobody reads", "use the Metalink as it is")
    }
    files += 1
    bytes +|= entry.size ?? 0
    return line
  }

  private func text(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    if form == .list0 { return entry.path.bytes + [0] }
    try checkName(entry)
    switch form {
    case .jsonl: return try json(entry)
    case .csv: return try table(entry)
    case .sums: return try sums(entry)
    case .list, .list0: return try list(entry)
    }
  }

  /// Refuses names that no reader would accept.
  private func checkName(_ entry: ManifestEntry) throws(TransferError) {
    do throws(ManifestFault) {
      _ = try entry.path.bytes.withUnsafeBufferPointer { bytes throws(ManifestFault) in
        try ManifestPath.read(UnsafeRawBufferPointer(bytes), hasEscapedLineEnds: form != .csv)
      }
    } catch {
      let other = option.map { ", or give \($0) list0" } ?? ""
      throw TransferError(
        .badList, "write manifest", entry.path, cause: error.cause, remedy: error.remedy + other)
    }
  }

  // MARK: - Formats

  private func json(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ value: JSONValue) { members.append(JSONValue.Member(name: name, value: value)) }
    add("path", .string(String(decoding: entry.path.bytes, as: UTF8.self)))
    if entry.path.utf8 == nil { add("path_b64", .string(base64(entry.path.bytes))) }
    if let url = try url(entry) { add("url", .string(url)) }
    if let size = entry.size { add("size", .int(size)) }
    if !entry.mirrors.isEmpty { add("mirrors", .array(entry.mirrors.map { .string($0) })) }
    if let mtimeNs = entry.mtimeNs { add("mtime", .string(ManifestTime.text(mtimeNs))) }
    for digest in entry.digests { add(digest.algorithm.rawValue, .string(hexText(digest.bytes))) }
    if let pieces = entry.pieces { add("piece_digests", .string(NamedPieces.text(pieces))) }
    if let key = entry.key { add("key", .string(String(decoding: key.bytes, as: UTF8.self))) }
    for (name, value) in entry.settings.sorted(by: { $0.key < $1.key }) { add(name, .string(value)) }
    return Array((JSONText.of(.object(members)) + "\n").utf8)
  }

  private func table(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    let digests = entry.digests.map { "\($0.algorithm.rawValue):\(hexText($0.bytes))" }.joined(separator: ",")
    let fields: [[UInt8]] = [
      entry.path.bytes, Array((entry.size.map(String.init) ?? "").utf8),
      Array((entry.mtimeNs.map(ManifestTime.text) ?? "").utf8), Array((try url(entry) ?? "").utf8),
      Array(entry.mirrors.joined(separator: " ").utf8), Array(digests.utf8),
      Array((entry.pieces.map(NamedPieces.text) ?? "").utf8),
    ]
    return Array(fields.map(Self.quoted).joined(separator: [0x2C])) + [0x0D, 0x0A]
  }

  /// RFC 4180 section 2.
  private static func quoted(_ field: [UInt8]) -> [UInt8] {
    guard field.contains(where: { [0x22, 0x2C, 0x0A, 0x0D, 0x09].contains($0) }) || field.first == 0x20 else {
      return field
    }
    return [0x22] + field.flatMap { $0 == 0x22 ? [0x22, 0x22] : [$0] } + [0x22]
  }

  private func sums(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    let plain: Set<DigestAlgorithm> = [.sha512, .sha256, .sha1, .md5]
    guard let digest = entry.digests.first(where: { plain.contains($0.algorithm) }) else {
      throw Self.fault(
        entry, "has no digest that a checksum file can hold",
        "make the manifest with transfers manifest build --digest sha256")
    }
    return Self.sum(hexText(digest.bytes), entry.path.bytes)
  }

  /// A line as `sha256sum` of GNU coreutils writes and reads it: a name with a backslash or a line end is escaped,
  /// which a leading backslash indicates. Source: GNU coreutils manual, "md5sum invocation".
  public static func sum(_ digest: String, _ name: [UInt8]) -> [UInt8] {
    let escapes: [UInt8: String] = [0x5C: #"\\"#, 0x0A: #"\n"#, 0x0D: #"\r"#]
    let escaped = name.flatMap { escapes[$0].map { Array($0.utf8) } ?? [$0] }
    return (escaped == name ? [] : [0x5C]) + Array("\(digest)  ".utf8) + escaped + [0x0A]
  }

  private func list(_ entry: ManifestEntry) throws(TransferError) -> [UInt8] {
    let name = entry.path.bytes
    guard !name.contains(where: { [0x09, 0x0A, 0x0D].contains($0) }) else {
      throw Self.fault(
        entry, "has a tab or the end of a line in its name", "give \(option ?? "the form") jsonl or list0")
    }
    // Some readers do not take a line with this beginning as a path.
    let isURL = name.withUnsafeBytes { ManifestURLReader.isAbsolute($0) }
    let isSafe = name.first != 0x23 && name.first != 0x20 && !isURL
    return (isSafe ? [] : [0x2E, 0x2F]) + name + [0x0A]
  }

  /// nil if the path is sufficient.
  private func url(_ entry: ManifestEntry) throws(TransferError) -> String? {
    switch entry.location {
    case .urls(let urls): return urls.first?.text
    case .relative(let path) where path == entry.path: return nil
    case .relative(let path):
      guard let text = path.utf8 else { throw Self.fault(entry, "comes from a path that is not UTF-8", "rename it") }
      return text
    }
  }

  private static func fault(_ entry: ManifestEntry, _ cause: String, _ remedy: String) -> TransferError {
    TransferError(.badList, "write manifest", entry.path, cause: "this file \(cause)", remedy: remedy)
  }
}

extension ManifestEntry {
  /// Whether it is fetched from a location that its path does not give.
  public var isElsewhere: Bool { location != .relative(path) }

  /// Its other URLs, in order of preference.
  fileprivate var mirrors: [String] {
    guard case .urls(let urls) = location else { return [] }
    return urls.dropFirst().map(\.text)
  }
}
