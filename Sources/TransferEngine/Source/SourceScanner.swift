import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Walks sources and reports its findings, directory by directory, with names in byte order. Memory is bounded by the
/// largest directory and the depth, not by the size of the tree. Blocking: call it from a plain thread.
public struct SourceScanner {
  /// One finding of a scan.
  package enum Finding {
    /// A regular file: its path, how much of that may lead through symbolic links (``SourceRoot``), and its path below
    /// the base of the sources.
    case file(path: BorrowedName, root: Int, relative: BorrowedName, SourceIdentity, mode: UInt32, ListedFile? = nil)
    /// Excluded by a rule.
    case excluded(path: NameBytes, rule: String)
    /// Not a regular file: symbolic link, FIFO, socket, device.
    case special(path: NameBytes, kind: String)
    /// Cannot be examined, or a directory that cannot be listed.
    case unreadable(path: NameBytes, relative: NameBytes, Failure)
    /// A note about the sources as a whole.
    case remark(String)
  }

  let rules: PathRules
  let followsSymlinks: Bool
  let visit: (Finding) throws(TransferError) -> Void

  package init(
    rules: PathRules, followsSymlinks: Bool, visit: @escaping (Finding) throws(TransferError) -> Void
  ) {
    self.rules = rules
    self.followsSymlinks = followsSymlinks
    self.visit = visit
  }

  /// Scans one source: a file or a directory. A source argument that is a symbolic link is followed. One of several
  /// sources that cannot be examined is reported like an unreadable file, and the others are scanned.
  /// - Throws: `.noSource` if it is the only one and does not exist or is neither file nor directory; errors thrown by
  ///   `visit`.
  public func scan(_ source: SourcePlace, isAlone: Bool = true) throws(TransferError) {
    let path = PathBuffer()
    source.path.bytes.withUnsafeBytes { path.append($0) }
    if let named = source.namedLength { return try scan(match: source, named, path, isAlone) }
    let trail = ScanTrail(root: SourceRoot.length(of: source.path, below: SourceRoot.base(source.relativeStart)))
    var status = csys_file_status()
    guard csys_status_at(AT_FDCWD, path.cString, 1, &status) == 0 else {
      return try refuse(source, path, errno, isAlone)
    }
    switch status.mode & S_IFMT {
    case S_IFREG: try take(path, trail, source.relativeStart, status, mayBeLink: true)
    case S_IFDIR:
      let descriptor = csys_open_directory(AT_FDCWD, path.cString, 1)
      guard descriptor >= 0 else { return try refuse(source, path, errno, isAlone) }
      try walk(descriptor, path, trail, source.relativeStart, [FolderNumber(status)])
    default: try refuse(source, path, kind: status.mode, isAlone)
    }
  }

  /// Scans a match of a pattern. No component that the pattern matched is followed, even if it has become a symbolic
  /// link since: whoever can write to a folder of the pattern would choose what is read and removed.
  private func scan(
    match source: SourcePlace, _ named: Int, _ path: PathBuffer, _ isAlone: Bool
  ) throws(TransferError) {
    let opened = csys_open_path_below(path.cString, named)
    guard opened >= 0 else {
      let code = errno
      guard code == ELOOP else { return try refuse(source, path, code, isAlone) }
      return try special(path, source.relativeStart, S_IFLNK)
    }
    defer { close(opened) }
    var status = csys_file_status()
    guard csys_status_fd(opened, &status) == 0 else { return try refuse(source, path, errno, isAlone) }
    let trail = ScanTrail(root: named)
    switch status.mode & S_IFMT {
    case S_IFREG: try take(path, trail, source.relativeStart, status, mayBeLink: false)
    case S_IFDIR:
      let descriptor = csys_open_directory(opened, ".", 0)
      guard descriptor >= 0 else { return try refuse(source, path, errno, isAlone) }
      try walk(descriptor, path, trail, source.relativeStart, [FolderNumber(status)])
    case S_IFLNK: try special(path, source.relativeStart, status.mode)
    default: try refuse(source, path, kind: status.mode, isAlone)
    }
  }

  private func refuse(
    _ source: SourcePlace, _ path: PathBuffer, kind: UInt32, _ isAlone: Bool
  ) throws(TransferError) {
    guard isAlone else { return try special(path, source.relativeStart, kind) }
    throw TransferError(
      .noSource, "read source", source.path, cause: "it is \(fileKind(kind))", remedy: "name a file or a directory")
  }

  private func refuse(
    _ source: SourcePlace, _ path: PathBuffer, _ code: Int32, _ isAlone: Bool
  ) throws(TransferError) {
    if isAlone { throw noSource(source.path, code) }
    try unreadable(path, source.relativeStart, sourceFailure(code))
  }

  /// Reports a regular file, unless a rule excludes it. What is behind a followed link is recorded with its real path,
  /// which leads through no link: the link may lead elsewhere when the file is opened.
  func take(
    _ path: PathBuffer, _ trail: ScanTrail, _ relativeStart: Int, _ status: csys_file_status, mayBeLink: Bool,
    _ listed: ListedFile? = nil
  ) throws(TransferError) {
    let relative = path.suffix(from: relativeStart)
    if let rule = rules.exclusion(ofFile: relative) {
      return try visit(.excluded(path: NameBytes(Array(path.bytes)), rule: rule))
    }
    if mayBeLink, let real = path.linkTarget {
      var target = csys_file_status()
      guard real.withCString({ csys_status_at(AT_FDCWD, $0, 0, &target) }) == 0, target.mode & S_IFMT == S_IFREG else {
        return try unreadable(path, relativeStart, Self.changedLink)
      }
      return try take(real, relative, target, listed)
    }
    if let real = trail.real(path) { return try take(real, relative, status, listed) }
    try visit(
      .file(
        path: path.bytes, root: trail.root, relative: relative, SourceIdentity(status), mode: status.mode & 0o7777,
        listed))
  }

  private func take(
    _ real: NameBytes, _ relative: BorrowedName, _ status: csys_file_status, _ listed: ListedFile?
  ) throws(TransferError) {
    let (identity, mode) = (SourceIdentity(status), status.mode & 0o7777)
    try real.bytes.withUnsafeBufferPointer { real throws(TransferError) in
      let path = UnsafeRawBufferPointer(real)
      try visit(.file(path: path, root: SourceRoot.whole, relative: relative, identity, mode: mode, listed))
    }
  }

  /// Lists one directory (the descriptor is closed), files and subdirectories in byte order.
  private func walk(
    _ descriptor: Int32, _ path: PathBuffer, _ trail: ScanTrail, _ relativeStart: Int, _ ancestors: [FolderNumber]
  ) throws(TransferError) {
    defer { close(descriptor) }
    var listing = csys_listing()
    defer { csys_free_listing(&listing) }
    if csys_list_directory(descriptor, &listing) != 0 { try unreadable(path, relativeStart, sourceFailure(errno)) }
    guard let names = listing.names, let entries = listing.entries else { return }
    let length = path.count
    for entry in UnsafeBufferPointer(start: entries, count: listing.count) {
      path.appendComponent(UnsafeRawBufferPointer(start: names + Int(entry.start), count: Int(entry.length)))
      let name = names + Int(entry.start)
      if Int32(entry.type) == DT_DIR {
        try enter(name, in: descriptor, path, trail, relativeStart, ancestors)
      } else {
        try look(at: name, in: descriptor, path, trail, relativeStart, ancestors)
      }
      path.truncate(to: length)
    }
  }

  private func look(
    at name: UnsafePointer<CChar>, in directory: Int32, _ path: PathBuffer, _ trail: ScanTrail, _ relativeStart: Int,
    _ ancestors: [FolderNumber]
  ) throws(TransferError) {
    var status = csys_file_status()
    guard csys_status_at(directory, name, followsSymlinks ? 1 : 0, &status) == 0 else {
      if errno == ENOENT && !followsSymlinks { return }
      return try unreadable(path, relativeStart, sourceFailure(errno))
    }
    switch status.mode & S_IFMT {
    case S_IFREG: try take(path, trail, relativeStart, status, mayBeLink: followsSymlinks)
    case S_IFDIR: try enter(name, in: directory, path, trail, relativeStart, ancestors)
    default: try special(path, relativeStart, status.mode)
    }
  }

  /// Reports something that is never sent.
  func special(_ path: PathBuffer, _ relativeStart: Int, _ mode: UInt32) throws(TransferError) {
    let name = NameBytes(Array(path.bytes))
    if let rule = rules.exclusion(ofFile: path.suffix(from: relativeStart)) {
      return try visit(.excluded(path: name, rule: rule))
    }
    try visit(.special(path: name, kind: fileKind(mode)))
  }

  func unreadable(_ path: PathBuffer, _ relativeStart: Int, _ failure: Failure) throws(TransferError) {
    let relative = NameBytes(Array(path.suffix(from: relativeStart)))
    try visit(.unreadable(path: NameBytes(Array(path.bytes)), relative: relative, failure))
  }

  private func enter(
    _ name: UnsafePointer<CChar>, in directory: Int32, _ path: PathBuffer, _ trail: ScanTrail, _ relativeStart: Int,
    _ ancestors: [FolderNumber]
  ) throws(TransferError) {
    if let rule = rules.exclusion(ofDirectory: path.suffix(from: relativeStart)) {
      return try visit(.excluded(path: NameBytes(Array(path.bytes)), rule: rule))
    }
    let descriptor = csys_open_directory(directory, name, followsSymlinks ? 1 : 0)
    guard descriptor >= 0 else {
      // As for a file that disappeared after it was listed.
      if errno == ENOENT && !followsSymlinks { return }
      return try unreadable(path, relativeStart, sourceFailure(errno))
    }
    var status = csys_file_status()
    let id = csys_status_fd(descriptor, &status) == 0 ? FolderNumber(status) : nil
    guard let id, !ancestors.contains(id) else {
      close(descriptor)
      let loop = Failure(.sourceKind, "is a directory that contains itself (a loop); not entered again")
      return try unreadable(path, relativeStart, loop)
    }
    guard let below = trail.entering(path, as: id, followsSymlinks: followsSymlinks) else {
      close(descriptor)
      return try unreadable(path, relativeStart, Self.changedLink)
    }
    try walk(descriptor, path, below, relativeStart, ancestors + [id])
  }

  private static let changedLink = Failure(.sourceChanged, "it is a symbolic link that changed during the scan")
}
