import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Examines every file of a list. Names are literal: empty ones are skipped, and there are no comments. A carriage
/// return at the end, or a byte order mark at the beginning, is part of the name if such a file exists, else it is
/// removed.
final class ListScanner {
  let list: OpenList
  private let base: NameBytes?
  let scanner: SourceScanner
  private let here: NameBytes
  private let path = PathBuffer()
  private var missing = 0
  private var missingLines: [Int] = []
  private var firstMissing = NameBytes("")
  private var toldAboutEnds = false
  /// Whether names are absolute, once that is known: the keys of absolute and relative names could collide.
  private var isAbsolute: Bool?
  /// The folder of the last file, and how much of it may lead through links.
  private var last: (folder: [UInt8], base: Int, root: Int)?

  /// The maximum number of consecutive empty names: /dev/zero yields them endlessly.
  private static let mostEmpty = 65_536

  init(_ list: OpenList, base: NameBytes?, _ scanner: SourceScanner) {
    self.list = list
    self.base = base
    self.scanner = scanner
    here = base ?? SourceFound.absolute(NameBytes("."))
  }

  func scan() throws(TransferError) {
    var empty = 0
    while let entry = try list.next() {
      empty = entry.isEmpty ? empty + 1 : 0
      guard empty <= Self.mostEmpty else {
        throw list.wrong("it follows \(Self.mostEmpty) empty names", "is it a list of files?")
      }
      if !entry.isEmpty { try look(entry) }
    }
    try refuseMissing()
  }

  func refuseMissing() throws(TransferError) {
    guard missing > 0, !list.list.skipsMissing else { return }
    let lines = missingLines.map(String.init).joined(separator: ", ") + (missing > missingLines.count ? ", …" : "")
    throw TransferError(
      .noSource, "read list", list.list.name,
      cause:
        "\(missing) of its files \(missing == 1 ? "does" : "do") not exist (line \(lines)), "
        + "first \"\(firstMissing.embedded)\"",
      remedy: "correct the list, or skip them with --missing skip; nothing was recorded")
  }

  private func look(_ entry: BorrowedName) throws(TransferError) {
    if list.list.separator == .newline, OpenList.position(of: 0, in: entry) != nil {
      throw list.wrong("it holds a NUL", "give lists with NUL separators to --files-from0")
    }
    let start = try place(entry)
    var status = csys_file_status()
    var code = self.status(&status)
    if code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG, let plain = Self.withoutMarks(entry, list.line) {
      if plain.isEmpty { return }
      _ = try place(plain)
      let again = self.status(&status)
      if again == 0 { try tellAboutMarks(hasOrderMark: entry.first != plain.first) } else { _ = try place(entry) }
      code = again == 0 ? 0 : code
    }
    try take(start, status, code)
  }

  func take(
    _ start: Int, _ status: csys_file_status, _ code: Int32, _ listed: ListedFile? = nil
  ) throws(TransferError) {
    switch code {
    case 0: break
    case ENOENT, ENOTDIR, ENAMETOOLONG:
      return try isMissing(start, listed)
    default:
      return try unreadable(start, sourceFailure(code), listed)
    }
    switch status.mode & S_IFMT {
    case S_IFREG:
      let trail = ScanTrail(root: root(below: SourceRoot.base(start)))
      try scanner.take(path, trail, start, status, mayBeLink: scanner.followsSymlinks, listed)
    case S_IFDIR:
      throw list.wrong(
        "\"\(NameBytes(Array(path.suffix(from: start))).embedded)\" is a folder, but lists must name files",
        "push the folder itself, or list its files with find -type f")
    default: try scanner.special(path, start, status.mode)
    }
  }

  /// Mostly, a file is in the folder of the one before it.
  private func root(below base: Int) -> Int {
    let folder = path.bytes.prefix(max(path.bytes.lastIndex(of: 0x2F) ?? 0, 1))
    if let last, last.base == base, last.folder.elementsEqual(folder) { return last.root }
    let bytes = Array(folder)
    let root = SourceRoot.length(of: NameBytes(bytes), below: base)
    last = (bytes, base, root)
    return root
  }

  private func unreadable(_ start: Int, _ failure: Failure, _ listed: ListedFile?) throws(TransferError) {
    guard let key = listed?.key else { return try scanner.unreadable(path, start, failure) }
    try scanner.visit(.unreadable(path: NameBytes(Array(path.bytes)), relative: key, failure))
  }

  func status(_ status: inout csys_file_status) -> Int32 {
    csys_status_at(AT_FDCWD, path.cString, scanner.followsSymlinks ? 1 : 0, &status) == 0 ? 0 : errno
  }

  private func isMissing(_ start: Int, _ listed: ListedFile?) throws(TransferError) {
    missing += 1
    if missing == 1 { firstMissing = NameBytes(Array(path.suffix(from: start))) }
    if missingLines.count < 5 { missingLines.append(list.line) }
    guard list.list.skipsMissing else { return }
    try unreadable(start, sourceFailure(ENOENT), listed)
  }

  /// Writes the path of an entry into the buffer, without `.` and empty components; returns the offset of its key.
  func place(_ entry: BorrowedName) throws(TransferError) -> Int {
    let isRooted = entry.first == 0x2F
    try checkKind(isRooted)
    path.truncate(to: 0)
    if !isRooted { here.bytes.withUnsafeBytes { path.append($0) } }
    var rest = entry[...]
    while !rest.isEmpty {
      let part = rest.prefix { $0 != 0x2F }
      rest = rest.dropFirst(part.count + 1)
      if part.isEmpty || part.elementsEqual([0x2E]) { continue }
      if part.elementsEqual([0x2E, 0x2E]) {
        throw list.wrong(
          "\"\(NameBytes(Array(entry)).embedded)\" leads upwards", "give paths without \"..\", or --base")
      }
      path.appendComponent(UnsafeRawBufferPointer(rebasing: part))
    }
    if !isRooted { return here.bytes == [0x2F] ? 1 : here.bytes.count + 1 }
    guard let base else { return 1 }
    return try start(below: base)
  }

  private func start(below base: NameBytes) throws(TransferError) -> Int {
    let start = base.bytes == [0x2F] ? 1 : base.bytes.count + 1
    let isBelow = path.count > start && path.bytes.starts(with: base.bytes) && path.bytes[start - 1] == 0x2F
    guard isBelow else {
      throw list.wrong(
        "\"\(NameBytes(Array(path.bytes)).embedded)\" is not below the base \"\(base.embedded)\"",
        "set --base to a folder that contains all of them")
    }
    return start
  }

  private func checkKind(_ isRooted: Bool) throws(TransferError) {
    guard base == nil, let isAbsolute, isAbsolute != isRooted else {
      isAbsolute = isRooted
      return
    }
    throw list.wrong(
      "absolute and relative paths are mixed, so that two could become one object",
      "set --base to a folder that contains all of them")
  }

  /// The entry without a carriage return at its end and, on the first line, without a byte order mark; nil if it has
  /// neither.
  private static func withoutMarks(_ entry: BorrowedName, _ line: Int) -> BorrowedName? {
    var plain = entry[...]
    if plain.last == 0x0D { plain = plain.dropLast() }
    if line == 1, plain.starts(with: [0xEF, 0xBB, 0xBF]) { plain = plain.dropFirst(3) }
    return plain.count < entry.count ? UnsafeRawBufferPointer(rebasing: plain) : nil
  }

  private func tellAboutMarks(hasOrderMark: Bool) throws(TransferError) {
    guard !toldAboutEnds else { return }
    toldAboutEnds = true
    let marks = hasOrderMark ? "a byte order mark and line ends (CRLF)" : "line ends (CRLF)"
    try scanner.visit(.remark("\(list.list.name.embedded) was written on Windows: \(marks) are not part of the names"))
  }
}
