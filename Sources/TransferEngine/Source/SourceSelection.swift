import CSys
public import TransferModel
public import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file or directory to scan, and the part of its path that becomes the key: everything after `relativeStart`.
public struct SourcePlace: Sendable, Hashable {
  /// Absolute.
  public var path: NameBytes
  public var relativeStart: Int
  /// How much of the path a person named; a pattern matches what is behind it, and that must lead through no symbolic
  /// link. nil if all of it was named, or if links may be followed.
  var namedLength: Int?

  public init(path: NameBytes, relativeStart: Int) {
    self.path = path
    self.relativeStart = relativeStart
  }
}

/// The requested sources, as typed.
public struct SourceSelection: Sendable {
  /// Files, directories and patterns; empty if there is a list.
  public var sources: [NameBytes]
  public var list: FileList?
  /// The format of the list; nil detects whether it is a manifest, or a plain list of names.
  public var listFormat: ManifestFormat?
  /// The directory that keys are relative to; nil for the common directory of the sources.
  public var base: NameBytes?
  public var rules: PathRules
  public var followsSymlinks: Bool
  /// Takes the error of each named source that does not exist, so that the others are scanned. Patterns may then match
  /// nothing in a folder that exists. nil if each source must exist.
  public var whenMissing: (@Sendable (TransferError) -> Void)?

  public init(
    _ sources: [NameBytes], list: FileList? = nil, base: NameBytes? = nil, rules: PathRules = PathRules(),
    followsSymlinks: Bool = false
  ) {
    self.sources = sources
    self.list = list
    self.base = base
    self.rules = rules
    self.followsSymlinks = followsSymlinks
  }

  /// Checks that every named source exists, before anything is created or recorded. Blocking.
  /// - Throws: `.noSource` for a missing source (if ``whenMissing`` is set, only if all are missing); `.usage` for a
  ///   source outside of the base or an invalid rule.
  public func resolve() throws(TransferError) -> ResolvedSources {
    try checkRules()
    let base = try base.map { base throws(TransferError) in try Self.directory(base) }
    if let list {
      if let base { try refuseRulesWithBase(base) }
      return ResolvedSources(self, .list(try OpenList(list), base: base), base: base)
    }
    var found: [SourceFound] = []
    var named: Set<NameBytes> = []
    var missing: [TransferError] = []
    for source in sources {
      let one = try find(source, &missing)
      if one.isPattern || one.paths.isEmpty || one.paths.contains(where: { named.insert($0).inserted }) {
        found.append(one)
      }
    }
    if let first = missing.first, missing.count == sources.count {
      for other in missing.dropFirst() { whenMissing?(other) }
      throw first
    }
    for one in missing { whenMissing?(one) }
    let only = found.count == 1 && !found[0].isPattern ? found[0].paths.first : nil
    let isFolder = only.map(Self.isDirectory) ?? false
    let shared = base ?? (isFolder ? only : nil) ?? Self.shared(found.map(\.home))
    try refuseRulesWithBase(shared)
    var seen: Set<NameBytes> = []
    var places: [SourcePlace] = []
    for one in found {
      for path in one.paths where seen.insert(path).inserted {
        var place = SourcePlace(path: path, relativeStart: try Self.relativeStart(path, below: shared))
        if one.isPattern, !followsSymlinks { place.namedLength = one.home.bytes.count }
        places.append(place)
      }
    }
    let links = found.flatMap(\.links).filter { seen.insert($0).inserted }
    return ResolvedSources(
      self, .places(places, isSingleFile: only != nil && !isFolder), base: shared, links: links,
      isComplete: missing.isEmpty)
  }

  /// - Throws: `.usage` for an invalid rule.
  public func checkRules() throws(TransferError) {
    guard let (text, problem) = rules.problem else { return }
    throw TransferError(.usage, "read rule", NameBytes(text), cause: problem.cause, remedy: problem.remedy)
  }

  /// A path of the file system matches nothing below the base.
  private func refuseRulesWithBase(_ base: NameBytes) throws(TransferError) {
    let rule = rules.ruleWithBase(base) { name in
      var status = csys_file_status()
      return base.appending(name).withCString { csys_status_at(AT_FDCWD, $0, 1, &status) } == 0
    }
    guard let (text, rest) = rule else { return }
    let remedy = rest.bytes.count > 1 ? "\"\(rest.embedded)\", which begins at the base" : "name what is below it"
    throw TransferError(
      .usage, "read rule", NameBytes(text),
      cause: "it matches nothing: it is compared with paths below the base \"\(base.embedded)\"", remedy: remedy)
  }

  /// A missing source keeps its part in the common folder, so that the keys of the others do not change.
  private func find(_ source: NameBytes, _ missing: inout [TransferError]) throws(TransferError) -> SourceFound {
    do throws(TransferError) {
      return try SourceFound(source, isAlone: sources.count == 1, followsLinks: followsSymlinks)
    } catch {
      guard whenMissing != nil, error.kind == .noSource else { throw error }
      let nothing = SourceFound(nothingOf: source)
      if !nothing.isPattern || !Self.isDirectory(nothing.home) { missing.append(error) }
      return nothing
    }
  }

  /// The offset at which the part of `path` below `base` begins.
  static func relativeStart(_ path: NameBytes, below base: NameBytes) throws(TransferError) -> Int {
    let start = base.bytes == [0x2F] ? 1 : base.bytes.count + 1
    let isBelow = path.bytes.starts(with: base.bytes) && (path == base || path.bytes[start - 1] == 0x2F)
    guard isBelow else {
      throw TransferError(
        .usage, "add", path, cause: "it is not below the base \"\(base.embedded)\"",
        remedy: "set --base to a folder that contains all of them")
    }
    return start
  }

  /// The deepest common folder of `folders`, which are absolute.
  static func shared(_ folders: [NameBytes]) -> NameBytes {
    var shared = folders.first?.bytes.split(separator: 0x2F)[...] ?? []
    for folder in folders.dropFirst() {
      shared = shared.prefix(zip(shared, folder.bytes.split(separator: 0x2F)).prefix { $0 == $1 }.count)
    }
    return NameBytes([0x2F] + Array(shared.joined(separator: [0x2F])))
  }

  private static func directory(_ path: NameBytes) throws(TransferError) -> NameBytes {
    let absolute = SourceFound.absolute(path)
    guard isDirectory(absolute) else {
      throw TransferError(.noSource, "read base", path, cause: "there is no such folder", remedy: "check --base")
    }
    return absolute
  }

  private static func isDirectory(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return path.withCString { csys_status_at(AT_FDCWD, $0, 1, &status) } == 0 && status.mode & S_IFMT == S_IFDIR
  }
}

/// Sources that were checked to exist.
public struct ResolvedSources {
  enum Kind {
    case places([SourcePlace], isSingleFile: Bool)
    case list(OpenList, base: NameBytes?)
  }

  let selection: SourceSelection
  let kind: Kind
  /// The folder that keys are relative to; nil for a list without a base.
  public let base: NameBytes?
  /// Symbolic links that a pattern matches, and that are not followed.
  let links: [NameBytes]
  /// False if a named source is missing.
  public let isComplete: Bool

  init(
    _ selection: SourceSelection, _ kind: Kind, base: NameBytes?, links: [NameBytes] = [], isComplete: Bool = true
  ) {
    self.selection = selection
    self.kind = kind
    self.base = base
    self.links = links
    self.isComplete = isComplete
  }

  /// The only source is a file: a destination without a final slash is the name of its object.
  public var isSingleFile: Bool {
    if case .places(_, let isSingleFile) = kind { isSingleFile } else { false }
  }

  /// The path of ``isSingleFile`` relative to its folder; nil for other sources.
  public var singleFile: NameBytes? {
    guard case .places(let places, isSingleFile: true) = kind, let place = places.first else { return nil }
    return NameBytes(Array(place.path.bytes[place.relativeStart...]))
  }

  /// Whether a file can occur more than once.
  var mayRepeat: Bool {
    if case .places(let places, _) = kind { places.count > 1 } else { true }
  }

  /// Whether the scan may find only late that the request is invalid, so that nothing may be recorded before its end.
  var canBeRefused: Bool { if case .list = kind { true } else { false } }

  /// Reports every finding. Blocking. May be called only once, because a list may be a pipe.
  /// - Throws: errors thrown by `visit`; `.noSource` and `.badList` for an invalid list.
  package func scan(_ visit: @escaping (SourceScanner.Finding) throws(TransferError) -> Void) throws(TransferError) {
    let scanner = SourceScanner(
      rules: selection.rules, followsSymlinks: selection.followsSymlinks, visit: visit)
    for link in links { try visit(.special(path: link, kind: "a symbolic link that a pattern matches")) }
    switch kind {
    case .places(let places, _): for place in places { try scanner.scan(place, isAlone: places.count == 1) }
    case .list(let list, let base):
      let lines = ListScanner(list, base: base, scanner)
      var format = selection.listFormat
      if format == nil { format = try list.manifestFormat() }
      if let format, format != .list { try lines.scan(format) } else { try lines.scan() }
    }
  }
}
