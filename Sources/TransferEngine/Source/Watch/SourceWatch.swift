import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reports when a scan of the sources of a job may find something new. This is only a hint: a scan determines which
/// files exist and whether they are sent. Changes that cause no event (on a network file system that other machines
/// write to, or in a folder beyond the limits of the system) are found by the next scheduled scan. Blocking, for one
/// thread.
public final class SourceWatch {
  /// The result of checking the watch.
  public struct News: Sendable, Hashable {
    /// A source may be new or changed.
    public var hasChanged = false
    /// Remarks for people, each reported once.
    public var remarks: [String] = []
  }

  /// Minimum interval between renewals after lost events, and the wait after a limit of the system was reached, in
  /// milliseconds.
  static let renewalMs: Int64 = 30_000
  static let limitMs: Int64 = 600_000

  private let sources: WatchedSources
  private var watch: Int32 = -1
  private var folders = WatchedFolders()
  private var standing: [String] = []
  /// When the watch is renewed even if the sources are unchanged; nil for no renewal.
  private var renewsAtMs: Int64?
  private var renewedMs: Int64 = 0
  private var remarks = WatchRemarks()
  /// A folder appeared beside sources: patterns may match in it.
  private var looksAgain = false
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  /// Watches nothing before ``tend(nowMs:)``.
  public init(_ sources: WatchedSources) { self.sources = sources }

  deinit { if watch >= 0 { close(watch) } }

  /// Becomes readable when there are events; -1 while nothing is watched. May change in ``tend(nowMs:)``.
  public var descriptor: Int32 { watch }

  /// The number of watched folders.
  var count: Int { folders.count }

  /// Begins to watch, and checks whether the watched folders are still those of the sources. Call it every few seconds.
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

  /// Takes the pending events, and watches new folders. Never waits.
  public func drain(nowMs: Int64) -> News {
    var news = News()
    // If events arrive faster than they are read, the next call continues.
    for _ in 0..<64 where watch >= 0 {
      let count = read(watch, &buffer, buffer.count)
      guard count > 0 else { break }
      take(count, nowMs, &news)
    }
    return news
  }

  // MARK: Watching

  /// Renews the watch completely. Changes may have been missed meanwhile, so a scan is needed.
  private func renew(_ nowMs: Int64, _ news: inout News) {
    stop()
    (renewsAtMs, renewedMs, looksAgain, news.hasChanged) = (nil, nowMs, false, true)
    watch = csys_watch_open()
    guard watch >= 0 else { return giveUp(errno, nowMs, &news) }
    for root in sources.roots() where watch >= 0 { begin(root, nowMs, &news) }
    if watch >= 0 { remarks.everythingIsWatched() }
  }

  /// Watches what patterns match now, in addition to the folders that are already watched.
  private func lookAgain(_ nowMs: Int64, _ news: inout News) {
    looksAgain = false
    let before = folders.count
    for root in sources.roots() where watch >= 0 { begin(root, nowMs, &news) }
    // Its contents were written before it was watched.
    if folders.count != before { news.hasChanged = true }
  }

  private func stop() {
    if watch >= 0 { close(watch) }
    (watch, folders) = (-1, WatchedFolders())
  }

  private func begin(_ root: WatchedSources.Root, _ nowMs: Int64, _ news: inout News) {
    let id = root.path.withCString { csys_watch_add(watch, $0, 1) }
    guard id >= 0 else { return cannot(root.path, errno, nowMs, &news) }
    // It is already watched, as part of another source or by itself; a deep watch replaces a shallow one.
    guard !folders.knows(id) || root.isDeep && !folders.isDeep(id) else { return }
    folders.addRoot(id, root.path, relativeStart: root.relativeStart, isDeep: root.isDeep)
    if root.isDeep { descend([id], nowMs, &news) }
  }

  /// Watches the subfolders of watched folders, level by level without recursion.
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

  /// The number of a newly watched folder; nil for one that is not to be watched, or is watched already.
  private func enter(_ name: NameBytes, in parent: Int32, _ nowMs: Int64, _ news: inout News) -> Int32? {
    guard let place = folders.place(of: parent) else { return nil }
    let path = place.path.appending(name)
    guard sources.concerns(path, relativeStart: place.relativeStart, isFolder: true) else { return nil }
    let id = path.withCString { csys_watch_add(watch, $0, sources.followsSymlinks ? 1 : 0) }
    guard id >= 0 else {
      cannot(path, errno, nowMs, &news)
      return nil
    }
    // The folder is already watched under another name: a link to it, or a loop.
    guard !folders.knows(id) else { return nil }
    for old in folders.add(id, name, in: parent) { csys_watch_remove(watch, old) }
    remarks.noteWatched(path)
    return id
  }

  private func subfolders(_ path: NameBytes) -> [NameBytes] {
    FolderNames.of(path) { type in
      type == DT_DIR || type == DT_UNKNOWN || type == DT_LNK && sources.followsSymlinks
    }
  }

  // MARK: Events

  private func take(_ count: Int, _ nowMs: Int64, _ news: inout News) {
    var (at, event) = (0, csys_watch_event())
    let buffer = buffer
    buffer.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      // The remaining events of a watch that was given up meanwhile are ignored.
      while watch >= 0, csys_watch_next(start, count, &at, &event) != 0 { take(event, nowMs, &news) }
    }
  }

  private func take(_ event: csys_watch_event, _ nowMs: Int64, _ news: inout News) {
    guard event.folder >= 0 else { return lost(nowMs, &news) }
    guard folders.knows(event.folder) else { return }
    guard event.is_over == 0 else {
      // A removed root may exist again under its name, which tend() detects.
      if folders.isRoot(event.folder) { (standing, news.hasChanged) = ([], true) }
      for id in folders.remove(event.folder) where id != event.folder { csys_watch_remove(watch, id) }
      return
    }
    guard let text = event.name else { return }
    let name = NameBytes(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
    if event.has_left != 0 {
      // Its contents are no longer below the sources, or appear again under its new name.
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
      // It may be a source, or match a pattern.
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
    if let remark = remarks.eventsWereLost() { news.remarks.append(remark) }
  }

  private func renewSoon(_ nowMs: Int64) {
    renewsAtMs = min(renewsAtMs ?? .max, max(nowMs, renewedMs + Self.renewalMs))
  }

  // MARK: Folders that cannot be watched

  private func cannot(_ path: NameBytes, _ code: Int32, _ nowMs: Int64, _ news: inout News) {
    switch code {
    // It no longer exists, or is not a folder.
    case ENOENT, ENOTDIR, ELOOP: return
    case ENOSPC, ENOMEM, EMFILE, ENOSYS: giveUp(code, nowMs, &news)
    default:
      if let remark = remarks.cannotWatch(path, code) { news.remarks.append(remark) }
    }
  }

  /// Other programs of the user need watches too, so none are kept if not all folders can be watched.
  private func giveUp(_ code: Int32, _ nowMs: Int64, _ news: inout News) {
    stop()
    renewsAtMs = nowMs + Self.limitMs
    if let remark = remarks.limitIsReached(code) { news.remarks.append(remark) }
  }
}
