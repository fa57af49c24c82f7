import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The match of one argument: a file or a directory, or, if nothing has exactly this name and it contains `*`, `?` or
/// `[`, everything that matches the pattern.
struct SourceFound {
  /// Absolute, in byte order.
  var paths: [NameBytes]
  /// The folder that contains the argument; for a pattern, the folder before its first wildcard.
  var home: NameBytes
  var isPattern = false
  /// Symbolic links that match, or lead to what matches. They are not followed, because nobody named them: whoever can
  /// write to a folder of the pattern would choose what is read and removed.
  var links: [NameBytes] = []

  /// An existing name that cannot be examined is left to the scan, which continues with the others, unless it is the
  /// only source.
  /// - Throws: `.noSource`.
  init(_ source: NameBytes, isAlone: Bool = true, followsLinks: Bool = false) throws(TransferError) {
    var status = csys_file_status()
    if !source.isEmpty, source.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 {
      let path = Self.absolute(source)
      paths = [path]
      home = Self.parent(path)
      return
    }
    let code = source.isEmpty ? ENOENT : errno
    if !isAlone, code != ENOENT, code != ENOTDIR, code != ENAMETOOLONG, !SourcePattern.isOne(source) {
      let path = Self.absolute(source)
      (paths, home) = ([path], Self.parent(path))
      return
    }
    guard SourcePattern.isOne(source) else { throw noSource(source, code) }
    (home, paths, links) = Self.matches(of: source, followsLinks: followsLinks)
    isPattern = true
    guard paths.isEmpty else { return }
    throw links.isEmpty
      ? TransferError(
        .noSource, "read source", source, cause: "no file has this name, and none matches it as a pattern",
        remedy: "check the path")
      : TransferError(
        .noSource, "read source", source, cause: "as a pattern it matches only symbolic links, which are not followed",
        remedy: "name the links themselves, or --follow-symlinks")
  }

  private static func matches(
    of source: NameBytes, followsLinks: Bool
  ) -> (home: NameBytes, paths: [NameBytes], links: [NameBytes]) {
    let pattern = SourcePattern(source, followsLinks: followsLinks)
    let (paths, links) = pattern.matches()
    return (absolute(pattern.folder), paths, links)
  }

  /// A source of which nothing exists.
  init(nothingOf source: NameBytes) {
    isPattern = SourcePattern.isOne(source)
    (home, paths, links) =
      isPattern ? Self.matches(of: source, followsLinks: false) : (Self.parent(Self.absolute(source)), [], [])
  }

  /// The folder of an absolute path.
  static func parent(_ path: NameBytes) -> NameBytes {
    guard let slash = path.bytes.lastIndex(of: 0x2F), slash > 0 else { return NameBytes("/") }
    return NameBytes(Array(path.bytes[..<slash]))
  }

  /// The absolute path, as the ledger stores it, so that a later run finds the file from any working directory.
  /// Symbolic links are not resolved, unless `..` may lead out of one.
  static func absolute(_ path: NameBytes) -> NameBytes {
    var parts = path.bytes.split(separator: 0x2F).filter { $0 != [0x2E] }
    if parts.dropLast().contains([0x2E, 0x2E]) || parts.last == [0x2E, 0x2E] {
      let last = parts.last == [0x2E, 0x2E] ? nil : parts.popLast()
      let isRooted = path.bytes.first == 0x2F
      let folder = NameBytes((isRooted ? [0x2F] : []) + Array(parts.joined(separator: [0x2F])))
      if let real = folder.withCString({ realpath($0, nil) }) {
        defer { free(real) }
        let folder = NameBytes(Array(UnsafeRawBufferPointer(start: real, count: strlen(real))))
        return last.map { folder.appending(NameBytes(Array($0))) } ?? folder
      }
      if let last { parts.append(last) }
    }
    let joined = Array(parts.joined(separator: [0x2F]))
    if path.bytes.first == 0x2F { return NameBytes([0x2F] + joined) }
    guard let pointer = getcwd(nil, 0) else { return NameBytes(joined) }
    defer { free(pointer) }
    let here = NameBytes(Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))))
    return here.appending(NameBytes(joined))
  }
}

/// A path pattern with shell syntax: `*`, `?`, `[a-z]` within a component, `**` for any number of folders. Names that
/// begin with a dot are only matched by patterns that do.
struct SourcePattern {
  /// Before the first component with a wildcard; empty for the working directory.
  let folder: NameBytes
  private let components: [[UInt8]]
  private let takesOnlyFolders: Bool
  /// Of the components from the first wildcard on; what is before them was named.
  private let followsLinks: Bool

  static func isOne(_ text: NameBytes) -> Bool {
    text.bytes.contains { $0 == 0x2A || $0 == 0x3F || $0 == 0x5B } && globProblem(text.bytes) == nil
  }

  init(_ text: NameBytes, followsLinks: Bool = false) {
    self.followsLinks = followsLinks
    let parts = text.bytes.split(separator: 0x2F).map(Array.init)
    let plain = parts.prefix { !Self.isWild($0) }
    folder = NameBytes(
      (text.bytes.first == 0x2F ? [0x2F] : []) + Array(plain.map(Self.unescaped).joined(separator: [0x2F])))
    components = Array(parts.dropFirst(plain.count))
    takesOnlyFolders = text.bytes.last == 0x2F
  }

  /// The absolute paths that match, and the links that were not followed, in byte order. Blocking.
  func matches() -> (paths: [NameBytes], links: [NameBytes]) {
    let (look, home) = (look(), SourceFound.absolute(folder))
    return (look.found.sorted().map { absolute($0, home) }, look.links.sorted().map { absolute($0, home) })
  }

  /// The absolute path of a match. What the pattern matched is not resolved: it may have become a link.
  private func absolute(_ match: NameBytes, _ home: NameBytes) -> NameBytes {
    let parts = match.bytes.dropFirst(folder.bytes.count).split(separator: 0x2F).filter { $0 != [0x2E] }
    guard !parts.contains([0x2E, 0x2E]) else { return SourceFound.absolute(match) }
    return home.appending(NameBytes(Array(parts.joined(separator: [0x2F]))))
  }

  /// The folders in which a match, or a folder that leads to one, may appear. Blocking.
  func places() -> [NameBytes] { look().folders.sorted() }

  private struct Look {
    var found: Set<NameBytes> = []
    var links: Set<NameBytes> = []
    /// The folders in which a component was searched for.
    var folders: Set<NameBytes> = []
  }

  private func look() -> Look {
    var look = Look()
    expand(folder, components[...], &look)
    return look
  }

  private func expand(_ folder: NameBytes, _ rest: ArraySlice<[UInt8]>, _ look: inout Look) {
    guard let component = rest.first else { return }
    look.folders.insert(folder)
    let isLast = rest.count == 1
    guard Self.isWild(component) else {
      let path = folder.appending(NameBytes(Self.unescaped(component)))
      guard followsLinks || !Self.isLink(path) else {
        look.links.insert(path)
        return
      }
      if !isLast { return expand(path, rest.dropFirst(), &look) }
      if let kind = Self.kind(path), kind == S_IFDIR || !takesOnlyFolders { look.found.insert(path) }
      return
    }
    let crosses = component == [0x2A, 0x2A]
    if crosses && !isLast { expand(folder, rest.dropFirst(), &look) }
    for name in FolderNames.of(folder.isEmpty ? NameBytes(".") : folder) where Self.matches(component, name) {
      let path = folder.appending(name)
      let kind = Self.kind(path)
      if !followsLinks, Self.isLink(path) {
        if isLast || kind == S_IFDIR { look.links.insert(path) }
        continue
      }
      if isLast && (kind == S_IFDIR ? !crosses || takesOnlyFolders : !takesOnlyFolders) { look.found.insert(path) }
      if kind == S_IFDIR && crosses && !Self.isLink(path) { expand(path, rest, &look) }
      if kind == S_IFDIR && !crosses && !isLast { expand(path, rest.dropFirst(), &look) }
    }
  }

  private static func isWild(_ part: [UInt8]) -> Bool { part.contains { $0 == 0x2A || $0 == 0x3F || $0 == 0x5B } }

  private static func matches(_ pattern: [UInt8], _ name: NameBytes) -> Bool {
    (name.bytes.first != 0x2E || pattern.first == 0x2E) && globMatches(pattern[...], name.bytes[...])
  }

  private static func unescaped(_ part: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var rest = part[...]
    while let byte = rest.popFirst() { out.append(byte == 0x5C ? rest.popFirst() ?? byte : byte) }
    return out
  }

  /// The file type at a path, following links; nil if nothing exists.
  private static func kind(_ path: NameBytes) -> UInt32? {
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 1, &status) }) == 0 else { return nil }
    return status.mode & S_IFMT
  }

  private static func isLink(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return path.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0 && status.mode & S_IFMT == S_IFLNK
  }
}

/// Paths in settings.
public enum AbsolutePath {
  /// As the ledger stores it.
  public static func of(_ path: NameBytes) -> NameBytes { SourceFound.absolute(path) }

  /// Makes a path independent of the working directory. If the result is not UTF-8, the path stays as it was typed.
  public static func of(_ path: String) -> String { SourceFound.absolute(NameBytes(path)).utf8 ?? path }
}
