import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Tells when a look at the sources of a job may find something new. A hint and never more: what is there, and whether
/// it is sent, is found out by a scan; and what no event tells of (a network file system that others write, a folder
/// beyond the limits of the system) is found by the next scan at its time. Blocking, for one thread.
public final class SourceWatch {
  /// What came of looking at the watch.
  public struct News: Sendable, Hashable {
    /// Something may be new.
    public var hasChanged = false
    /// For people, each once.
    public var remarks: [String] = []
  }

  /// Between two times that everything is watched anew because events were lost, and after a limit of the system was
  /// met, in milliseconds.
  static let renewalMs: Int64 = 30_000
  static let limitMs: Int64 = 600_000
  /// Folders that cannot be watched, of which each is told.
  private static let mostTold = 5

  private let sources: WatchedSources
  private var watch: Int32 = -1
  private var folders = WatchedFolders()
  private var standing: [String] = []
  /// When everything is watched anew, whatever the sources are then; nil for not.
  private var renewsAtMs: Int64?
  private var renewedMs: Int64 = 0
  /// What was said of a limit, until everything could be watched again.
  private var toldLimit: String?
  private var hasToldLoss = false
  /// A folder appeared beside sources: patterns may lead to it.
  private var looksAgain = false
  private var unwatched: Set<NameBytes> = []
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  /// Watches nothing before ``tend(nowMs:)``.
  public init(_ sources: WatchedSources) { self.sources = sources }

  deinit { if watch >= 0 { close(watch) } }

  /// Becomes readable when there are events; -1 while nothing is watched. Another one after ``tend(nowMs:)``.
  public var descriptor: Int32 { watch }

  /// How many folders are watched.
  var count: Int { folders.count }

  /// Begins to watch, and looks whether what is watched is still what the sources name. To be called every few seconds.
  /// - Parameter nowMs: by the boot clock.
  public func tend(nowMs: Int64) -> News {
    var news = News()
    let now = sources.standing()
    guard now != standing || (renewsAtMs ?? .max) <= nowMs else {
      if looksAgain { lookAgain(nowMs, &news) }
      return news
    }
    standing = now
    renew(nowMs, &news)
    return news
  }

  /// Takes the events that are there, and watches folders that are new. Never waits.
  public func drain(nowMs: Int64) -> News {
    var news = News()
    // Who writes faster than this is read on with the next call.
    for _ in 0..<64 where watch >= 0 {
      let count = read(watch, &buffer, buffer.count)
      guard count > 0 else { break }
      take(count, nowMs, &news)
    }
    return news
  }

  // MARK: Watching

  /// Everything anew: what happened meanwhile is a reason to look.
  private func renew(_ nowMs: Int64, _ news: inout News) {
    stop()
    (renewsAtMs, renewedMs, looksAgain, news.hasChanged) = (nil, nowMs, false, true)
    watch = csys_watch_open()
    guard watch >= 0 else { return giveUp(errno, nowMs, &news) }
    for root in sources.roots() where watch >= 0 { begin(root, nowMs, &news) }
    if watch >= 0 { toldLimit = nil }
  }

  /// What patterns lead to now, beside what is watched already.
  private func lookAgain(_ nowMs: Int64, _ news: inout News) {
    looksAgain = false
    let before = folders.count
    for root in sources.roots() where watch >= 0 { begin(root, nowMs, &news) }
    // What lies in it was written before it was watched.
    if folders.count != before { news.hasChanged = true }
  }

  private func stop() {
    if watch >= 0 { close(watch) }
    (watch, folders) = (-1, WatchedFolders())
  }

  private func begin(_ root: WatchedSources.Root, _ nowMs: Int64, _ news: inout News) {
    let id = root.path.withCString { csys_watch_add(watch, $0, 1) }
    guard id >= 0 else { return cannot(root.path, errno, nowMs, &news) }
    // Below another source, or the same again: deep is more.
    guard !folders.knows(id) || root.isDeep && !folders.isDeep(id) else { return }
    folders.addRoot(id, root.path, relativeStart: root.relativeStart, isDeep: root.isDeep)
    if root.isDeep { descend([id], nowMs, &news) }
  }

  /// Watches what is in folders that are watched themselves, level by level without recursion.
  private func descend(_ start: [Int32], _ nowMs: Int64, _ news: inout News) {
    var rest = start
    while watch >= 0, let parent = rest.popLast() {
      guard let place = folders.place(of: parent) else { continue }
      for name in subfolders(place.path) {
        guard watch >= 0 else { return }
        if let id = enter(name, in: parent, nowMs, &news) { rest.append(id) }
      }
    }
  }

  /// The number of a folder that is new here; nil for one that is not to be watched, or is already.
  private func enter(_ name: NameBytes, in parent: Int32, _ nowMs: Int64, _ news: inout News) -> Int32? {
    guard let place = folders.place(of: parent) else { return nil }
    let path = place.path.appending(name)
    guard sources.concerns(path, relativeStart: place.relativeStart, isFolder: true) else { return nil }
    let id = path.withCString { csys_watch_add(watch, $0, sources.followsSymlinks ? 1 : 0) }
    guard id >= 0 else {
      cannot(path, errno, nowMs, &news)
      return nil
    }
    // A folder that is watched under another name too: a link to it, or a loop.
    guard !folders.knows(id) else { return nil }
    for old in folders.add(id, name, in: parent) { csys_watch_remove(watch, old) }
    unwatched.remove(path)
    return id
  }

  private func subfolders(_ path: NameBytes) -> [NameBytes] {
    let descriptor = path.withCString { csys_open_directory(AT_FDCWD, $0, 1) }
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var listing = csys_listing()
    defer { csys_free_listing(&listing) }
    _ = csys_list_directory(descriptor, &listing)
    guard let names = listing.names, let entries = listing.entries else { return [] }
    return UnsafeBufferPointer(start: entries, count: listing.count).compactMap { entry in
      let type = Int32(entry.type)
      guard type == DT_DIR || type == DT_UNKNOWN || type == DT_LNK && sources.followsSymlinks else { return nil }
      return NameBytes(Array(UnsafeRawBufferPointer(start: names + Int(entry.start), count: Int(entry.length))))
    }
  }

  // MARK: Events

  private func take(_ count: Int, _ nowMs: Int64, _ news: inout News) {
    var (at, event) = (0, csys_watch_event())
    let buffer = buffer
    buffer.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      // What is left of a watch that was given up meanwhile concerns nobody.
      while watch >= 0, csys_watch_next(start, count, &at, &event) != 0 { take(event, nowMs, &news) }
    }
  }

  private func take(_ event: csys_watch_event, _ nowMs: Int64, _ news: inout News) {
    guard event.folder >= 0 else { return lost(nowMs, &news) }
    guard folders.knows(event.folder) else { return }
    guard event.is_over == 0 else {
      // A root that is gone may be back under its name, which tend() sees.
      if folders.isRoot(event.folder) { (standing, news.hasChanged) = ([], true) }
      for id in folders.remove(event.folder) where id != event.folder { csys_watch_remove(watch, id) }
      return
    }
    guard let text = event.name else { return }
    let name = NameBytes(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
    if event.has_left != 0 {
      // What lies in it is no longer below the sources, or comes again under its new name.
      guard event.is_folder != 0, let id = folders.child(name, in: event.folder) else { return }
      for id in folders.remove(id) { csys_watch_remove(watch, id) }
    } else {
      appeared(name, in: event.folder, isFolder: event.is_folder != 0, nowMs, &news)
    }
  }

  private func appeared(
    _ name: NameBytes, in folder: Int32, isFolder: Bool, _ nowMs: Int64, _ news: inout News
  ) {
    guard let place = folders.place(of: folder) else { return }
    let path = place.path.appending(name)
    guard folders.isDeep(folder) else {
      guard isFolder || !sources.isOwn(path) else { return }
      // It may be a source, or what a pattern matches.
      news.hasChanged = true
      if isFolder || WatchedSources.isFolder(path) { looksAgain = true }
      return
    }
    guard sources.concerns(path, relativeStart: place.relativeStart, isFolder: isFolder) else { return }
    news.hasChanged = true
    guard isFolder || sources.followsSymlinks else { return }
    if let id = enter(name, in: folder, nowMs, &news) { descend([id], nowMs, &news) }
  }

  private func lost(_ nowMs: Int64, _ news: inout News) {
    news.hasChanged = true
    renewSoon(nowMs)
    guard !hasToldLoss else { return }
    hasToldLoss = true
    news.remarks.append("more happened at once than the system keeps: the folders are watched anew each time")
  }

  private func renewSoon(_ nowMs: Int64) {
    renewsAtMs = min(renewsAtMs ?? .max, max(nowMs, renewedMs + Self.renewalMs))
  }

  // MARK: What cannot be watched

  private func cannot(_ path: NameBytes, _ code: Int32, _ nowMs: Int64, _ news: inout News) {
    switch code {
    // It is gone already, or is no folder.
    case ENOENT, ENOTDIR, ELOOP: return
    case ENOSPC, ENOMEM, EMFILE, ENOSYS: giveUp(code, nowMs, &news)
    default:
      guard unwatched.count < Self.mostTold, unwatched.insert(path).inserted else { return }
      news.remarks.append(
        "\"\(path.embedded)\" cannot be watched: \(systemText(code)); what is new in it is found at the next time")
    }
  }

  /// Other programs of the user need watches too, so that none is kept where not all can be had.
  private func giveUp(_ code: Int32, _ nowMs: Int64, _ news: inout News) {
    stop()
    renewsAtMs = nowMs + Self.limitMs
    let limit =
      switch code {
      case ENOSPC: "more folders than the system allows to watch; raise fs.inotify.max_user_watches (sysctl)"
      case EMFILE: "too many watches or open files; raise fs.inotify.max_user_instances (sysctl) or ulimit -n"
      default: systemText(code)
      }
    guard toldLimit != limit else { return }
    toldLimit = limit
    news.remarks.append("nothing is watched, only looked at from time to time: \(limit)")
  }
}
