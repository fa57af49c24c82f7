import TransferModel

/// What the run knows of the collections (folders) at one place of a server, so that the files in a new folder do not
/// each find out that it is missing. Only a hint: a folder may vanish, or another client may create it. Used by the
/// engine's thread.
final class KnownCollections {
  enum Advice: Sendable, Hashable {
    case send
    /// Another file is creating the collection; the request is sent when that has ended.
    case wait
    /// The collection is missing, and the first `from` levels exist.
    case make(from: Int)
  }

  private struct Standing {
    /// The run created it: what is not known below it is missing.
    var isMade: Bool
    /// When this became known, by the boot clock.
    var sinceMs: Int64
  }

  /// The most collections that are remembered; those that were not looked up for longest are forgotten.
  static let most = 10_000

  private let most: Int
  /// Two generations: when the recent one is half of the whole, it becomes the older one, which is dropped.
  private var recent: [NameBytes: Standing] = [:]
  private var older: [NameBytes: Standing] = [:]
  private var makers: [NameBytes: FileID] = [:]

  init(most: Int = KnownCollections.most) { self.most = most }

  var count: Int { recent.count + older.count }
  var isAnyBeingMade: Bool { !makers.isEmpty }

  // MARK: - Advice

  /// What to do with a request of `file` that needs the collections of `key`.
  func advice(for key: NameBytes, _ file: FileID) -> Advice {
    let path = CollectionPath(key)
    for depth in path.depthsFromBelow {
      if let known = standing(path[depth]) {
        return known.isMade && depth < path.count ? .make(from: depth) : .send
      }
      if let maker = makers[path[depth]] { return maker == file ? .send : .wait }
    }
    return .send
  }

  /// The same after the server refused a request because a collection is missing. `.wait` means that the request is
  /// sent again: another file is creating the collection, or has created it since `sentMs`.
  func refused(_ key: NameBytes, _ file: FileID, sentMs: Int64) -> Advice {
    let path = CollectionPath(key)
    for depth in path.depthsFromBelow {
      if let known = standing(path[depth]) {
        guard depth == path.count else { return .make(from: depth) }
        if sentMs <= known.sinceMs { return .wait }
        forget(key)
        return .make(from: 0)
      }
      if let maker = makers[path[depth]], maker != file { return .wait }
    }
    return .make(from: 0)
  }

  // MARK: - Facts

  /// `file` creates the collections of `key` below the first `depth` levels.
  func begin(_ key: NameBytes, from depth: Int, by file: FileID) {
    let path = CollectionPath(key)
    for level in path.depthsFromBelow.prefix(path.count - depth) where makers[path[level]] == nil {
      makers[path[level]] = file
    }
  }

  /// The server answered the creation of one level. Only 2xx and 405 say that it exists.
  func answered(_ status: Int, _ key: NameBytes, depth: Int, by file: FileID, nowMs: Int64) {
    let collection = CollectionPath(key)[depth]
    if makers[collection] == file { makers[collection] = nil }
    let isMade = (200..<300).contains(status)
    if isMade || status == 405 { exists(key, depth: depth, isMade: isMade, nowMs: nowMs) }
  }

  /// An object was stored under `key`.
  func stored(_ key: NameBytes, nowMs: Int64) {
    let depth = CollectionPath(key).count
    if depth > 0 { exists(key, depth: depth, isMade: false, nowMs: nowMs) }
  }

  /// The file has left the run, so it will not create the collections that it was to create.
  func ended(_ file: FileID) {
    if !makers.isEmpty { makers = makers.filter { $0.value != file } }
  }

  /// A collection of `key` that was thought to exist is missing.
  func forget(_ key: NameBytes) {
    let path = CollectionPath(key)
    for depth in path.depthsFromBelow { (recent[path[depth]], older[path[depth]]) = (nil, nil) }
  }

  /// With it, all that contain it exist.
  private func exists(_ key: NameBytes, depth: Int, isMade: Bool, nowMs: Int64) {
    let path = CollectionPath(key)
    if isMade || standing(path[depth]) == nil { note(path[depth], Standing(isMade: isMade, sinceMs: nowMs)) }
    for above in path.depthsFromBelow.drop(while: { $0 >= depth }) {
      if standing(path[above]) != nil { return }
      note(path[above], Standing(isMade: false, sinceMs: nowMs))
    }
  }

  // MARK: - Memory

  private func standing(_ collection: NameBytes) -> Standing? {
    if let known = recent[collection] { return known }
    guard let known = older[collection] else { return nil }
    note(collection, known)
    return known
  }

  private func note(_ collection: NameBytes, _ standing: Standing) {
    recent[collection] = standing
    older[collection] = nil
    if recent.count >= max(1, most / 2) { (older, recent) = (recent, [:]) }
  }
}

/// The collections of a key, by depth from 1: those of `a/b/c` are `a` and `a/b`.
private struct CollectionPath {
  private let key: NameBytes
  private let ends: [Int]

  init(_ key: NameBytes) {
    self.key = key
    ends = key.bytes.indices.filter { key.bytes[$0] == 0x2F }
  }

  var count: Int { ends.count }
  var depthsFromBelow: [Int] { (0..<ends.count).map { ends.count - $0 } }

  subscript(depth: Int) -> NameBytes { NameBytes(Array(key.bytes[..<ends[depth - 1]])) }
}
