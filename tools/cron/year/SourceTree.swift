import Glibc
import TransferModel

/// One generation of a source, as the model knows it: a content under a name, and the moment since which it exists.
final class Generation: @unchecked Sendable {
  let content: Content
  let sinceMs: Int64
  /// It may be sent once its time has come: if files need a marker, it has one.
  let isReady: Bool
  /// The end of the first run whose scan must have seen it; nil as long as there was none.
  var seenMs: Int64?
  /// Deliveries whose success an engine received and recorded, by the folder of the server.
  var deliveries: [String: Int] = [:]
  /// The folders to which it was delivered while the disk failed or a writer changed the file: if the success was
  /// recorded, it is not sent again.
  var mayBeRecorded: Set<String> = []

  init(_ content: Content, sinceMs: Int64, isReady: Bool) {
    (self.content, self.sinceMs, self.isReady) = (content, sinceMs, isReady)
  }
}

/// The folder of one job, and everything that its writers ever put there. Used between the runs, and during a run under
/// the lock of its year.
final class SourceTree: @unchecked Sendable {
  let job: YearJob
  let folder: String
  let movedTo: String
  private let spare: String
  private let clock: YearClock
  /// The current files.
  private(set) var current: [String: Generation] = [:]
  /// Files that are being written, and their final length.
  private var growing: [String: Int] = [:]
  /// Every content that a name ever had.
  private(set) var past: [String: [Content: Generation]] = [:]
  private var writes: Int64 = 0
  private var names = 0
  private var gone: [String] = []

  init(_ job: YearJob, below root: String, clock: YearClock) throws(YearFailure) {
    (self.job, self.clock) = (job, clock)
    folder = "\(root)/source-\(job.name)"
    movedTo = "\(root)/moved-\(job.name)"
    spare = "\(root)/spare-\(job.name)"
    for path in [folder, folder + "/sub", movedTo, spare] {
      guard mkdir(path, 0o700) == 0 else { throw YearFailure("mkdir \(path): \(errno)") }
    }
  }

  /// Nothing in it will change by itself.
  var isStill: Bool { growing.isEmpty }

  // MARK: - Writers

  /// One action of a writer. `next` gives a number that no content has yet.
  func act(_ chance: inout Chance, next: () -> Int) throws(YearFailure) {
    try grow(&chance)
    guard let kind = Act.all.randomElement(using: &chance) else { return }
    let old = current.keys.filter { growing[$0] == nil }.sorted().randomElement(using: &chance)
    switch kind {
    case .create where current.count < Self.most: try write(newName(&chance), content(next(), &chance))
    case .growNew where current.count < Self.most: try beginGrowing(newName(&chance), content(next(), &chance), &chance)
    case .recreate where !gone.isEmpty && job.fate != .move:
      let name = gone.remove(at: Int.random(in: 0..<gone.count, using: &chance))
      if current[name] == nil { try write(name, content(next(), &chance)) }
    case .change:
      guard let old, let now = current[old] else { return }
      // The same length half of the time: then only the times show the change.
      let length = Bool.random(using: &chance) ? now.content.length : content(0, &chance).length
      try write(old, Content(number: next(), length: length), inPlace: Bool.random(using: &chance))
    case .rename:
      guard let old else { return }
      try rename(old, to: newName(&chance))
    case .delete:
      guard let old else { return }
      try remove(old)
    default: break
    }
  }

  /// Continues the files that are being written, to their end if `all`.
  func grow(_ chance: inout Chance, all: Bool = false) throws(YearFailure) {
    for (name, full) in growing.sorted(by: { $0.key < $1.key }) where all || chance.happens(400) {
      guard let now = current[name] else {
        growing[name] = nil
        continue
      }
      let left = full - now.content.length
      let length = all ? full : now.content.length + min(left, Int.random(in: 1...max(1, full / 2), using: &chance))
      if left > 0 { try put(name, Content(number: now.content.number, length: length), inPlace: true) }
      if length >= full {
        growing[name] = nil
        try mark(name)
      }
    }
  }

  private enum Act {
    case create, growNew, recreate, change, rename, delete
    static let all: [Act] = [
      .create, .create, .create, .growNew, .growNew, .recreate, .change, .change, .rename, .delete,
    ]
  }
  private static let most = 24

  private func newName(_ chance: inout Chance) -> String {
    names += 1
    return (chance.happens(300) ? "sub/" : "") + "f\(names)"
  }

  private func content(_ number: Int, _ chance: inout Chance) -> Content {
    let long = chance.happens(50)
    return Content(
      number: number, length: Int.random(in: Content.headerLength...(long ? 70_000 : 600), using: &chance))
  }

  private func write(_ name: String, _ content: Content, inPlace: Bool = false) throws(YearFailure) {
    unlink("\(folder)/\(name).done")
    try put(name, content, inPlace: inPlace)
    try mark(name)
  }

  private func beginGrowing(_ name: String, _ content: Content, _ chance: inout Chance) throws(YearFailure) {
    let first = Int.random(in: Content.headerLength...content.length, using: &chance)
    growing[name] = content.length
    try put(name, Content(number: content.number, length: first), inPlace: true)
    if first == content.length {
      growing[name] = nil
      try mark(name)
    }
  }

  private func mark(_ name: String) throws(YearFailure) {
    guard job.needsMarker else { return }
    close(open("\(folder)/\(name).done", O_WRONLY | O_CREAT, 0o600))
    if let now = current[name] { begin(name, now.content, isReady: true) }
  }

  private func put(_ name: String, _ content: Content, inPlace: Bool) throws(YearFailure) {
    let path = inPlace ? "\(folder)/\(name)" : "\(spare)/new"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw YearFailure("open \(path): \(errno)") }
    defer { close(descriptor) }
    let bytes = content.bytes
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw YearFailure("write \(path)") }
    stamp(descriptor)
    if !inPlace, Glibc.rename(path, "\(folder)/\(name)") != 0 { throw YearFailure("rename \(path): \(errno)") }
    begin(name, content, isReady: !job.needsMarker)
  }

  /// Files get times of the simulated year, and each write gets its own time.
  private func stamp(_ descriptor: Int32) {
    writes += 1
    let ms = clock.wallMs
    let time = timespec(tv_sec: Int(ms / 1_000), tv_nsec: Int(ms % 1_000 * 1_000_000 + writes % 1_000_000))
    _ = withUnsafePointer(to: (time, time)) { pair in
      pair.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(descriptor, $0) }
    }
  }

  private func begin(_ name: String, _ content: Content, isReady: Bool) {
    let generation = Generation(content, sinceMs: clock.bootMs, isReady: isReady)
    current[name] = generation
    past[name, default: [:]][content] = generation
  }

  private func rename(_ old: String, to name: String) throws(YearFailure) {
    guard let now = current[old] else { return }
    unlink("\(folder)/\(old).done")
    guard Glibc.rename("\(folder)/\(old)", "\(folder)/\(name)") == 0 else { return try expectRemoved("rename", old) }
    current[old] = nil
    gone.append(old)
    begin(name, now.content, isReady: !job.needsMarker)
    try mark(name)
  }

  private func remove(_ name: String) throws(YearFailure) {
    unlink("\(folder)/\(name).done")
    guard unlink("\(folder)/\(name)") == 0 else { return try expectRemoved("unlink", name) }
    current[name] = nil
    gone.append(name)
  }

  /// A call failed: during a run that may be because the program removed the file first, which ``takeRemoved()`` finds.
  private func expectRemoved(_ call: String, _ name: String) throws(YearFailure) {
    guard errno == ENOENT, job.fate != .keep else { throw YearFailure("\(call) \(name): \(errno)") }
  }

  // MARK: - Changes by the program

  /// Names whose files are gone although no writer removed them; they are removed from the model.
  func takeRemoved() -> [(name: String, generation: Generation)] {
    let missing = current.filter { access("\(folder)/\($0.key)", F_OK) != 0 }
    for name in missing.keys {
      current[name] = nil
      growing[name] = nil
      gone.append(name)
    }
    return missing.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  /// The content at the place to which the program moved a file, which is taken away as a user would do.
  func takeMoved(_ name: String) -> Content? {
    let path = "\(movedTo)/\(name)"
    defer { unlink(path) }
    return Self.read(path).flatMap { Content($0) }
  }

  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 17)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes[..<count])
  }
}
