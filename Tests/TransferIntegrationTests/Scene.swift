import Receiver
import TransferModel
import TransferTestSupport
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// A receiver, a source folder and a ledger, all removed after the test.
final class Scene {
  let root: String
  let server: ReceiverServer
  let url: String

  struct Broken: Error { let what: String }
  typealias Stop = StopSignal

  init(script: String = "", seed: UInt64 = 1, bearerToken: String? = nil, strictParents: Bool = false) throws {
    var template = Array("\(temporaryRoot)/transfers-scene-XXXXXX".utf8CString)
    guard let made = template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) else {
      throw Broken(what: "mkdtemp")
    }
    root = String(cString: made)
    for name in ["source", "kept"] { mkdir("\(root)/\(name)", 0o700) }
    try BlankLedger.place(at: "\(root)/ledger.db")
    var settings = ReceiverSettings(directory: "\(root)/kept", recordPath: "\(root)/record.ndjson")
    settings.script = try FaultScript(text: script)
    settings.seed = seed
    settings.bearerToken = bearerToken
    settings.strictParents = strictParents
    server = try ReceiverServer(settings)
    url = try server.start()
  }

  deinit {
    server.stop()
    removeTree(root)
  }

  /// Makes files of seeded content and size, a few of them with difficult names; returns them by relative path.
  func makeTree(seed: UInt64, count: Int) throws -> [NameBytes: [UInt8]] {
    var generator = SplitMix(state: seed)
    var files: [NameBytes: [UInt8]] = [:]
    let sizes = [0, 1, 4_095, 65_536, 65_537, 300_000]
    for n in 0..<count {
      var name = NameBytes("f\(n)")
      if n % 10 == 5 { name.bytes += [0x20, 0xFF, 0x0A, 0x25, 0x3F, 0x23] }
      let size = n < sizes.count ? sizes[n] : Int.random(in: 0..<20_000, using: &generator)
      let bytes = noise(size, seed: generator.next())
      files[name] = bytes
      try Self.write(bytes, to: NameBytes("\(root)/source").appending(name))
    }
    return files
  }

  struct Outcome {
    var added: AddResult
    var result: RunResult
  }

  var storePath: String { "\(root)/ledger.db" }

  func push() throws(TransferError) -> Outcome {
    let added = try add()
    return Outcome(added: added, result: try run())
  }

  func add(to place: String = "/up/", scheme: String = "") throws(TransferError) -> AddResult {
    let options = UploadOptions(settings: BatchSettings(destination: "\(scheme)\(url)\(place)"))
    return try TransferStore(at: storePath).add([NameBytes("\(root)/source")], options, notice: { _ in })
  }

  func run() throws(TransferError) -> RunResult { try Self.run(storePath) }

  static func run(
    _ storePath: String, workers: Int? = nil, stop: Scene.Stop = Scene.Stop(),
    progress: @escaping @Sendable (ProgressSnapshot) -> Void = { _ in }
  ) throws(TransferError) -> RunResult {
    try TransferStore(at: storePath).run(
      RunOptions(workers: workers, argv: ["test"]), progress: progress, notice: { _ in },
      stop: stop)
  }

  /// Checks that the receiver kept exactly the bytes of the source.
  func expectSameBytes(_ files: [NameBytes: [UInt8]]) throws {
    for (name, bytes) in files {
      let kept = try Self.read(NameBytes("\(root)/kept/up").appending(name))
      guard areSame(kept, bytes) else { throw Broken(what: "\(name) differs: \(kept.count) of \(bytes.count) bytes") }
    }
  }

  func commits() throws -> [ReceiverEvent] {
    try ReceiverRecord.read(path: "\(root)/record.ndjson").filter { if case .commit = $0.kind { true } else { false } }
  }

  /// Returns when the script holds `count` requests under this name at the same time; throws if they do not arrive.
  func waitUntilHeld(_ name: String, count: Int = 1) throws {
    guard try server.waitUntilHeld(name, count: count, timeoutMs: Self.patienceMs) else {
      throw Broken(what: "no \(count) requests are held as \(name)")
    }
  }

  func release(_ names: String...) { for name in names { server.release(name) } }

  /// Calls `body` when so many requests are held, concurrently with the test; also if they do not arrive, so that the
  /// test continues and shows what is wrong.
  func whenHeld(_ name: String, count: Int = 1, _ body: @escaping @Sendable () -> Void) -> WorkerThread {
    WorkerThread { [server] in
      _ = try? server.waitUntilHeld(name, count: count, timeoutMs: Self.patienceMs)
      body()
    }
  }

  /// The time after which an awaited event has failed; no successful test waits so long.
  static let patienceMs: Int64 = 60_000

  /// The largest number of requests below a folder that the receiver had at the same time.
  func mostAtOnce(_ folder: String) throws -> Int {
    var (now, most) = (0, 0)
    for event in try ReceiverRecord.read(path: "\(root)/record.ndjson")
    where event.path.description.split(separator: "/").first == folder[...] {
      if case .start = event.kind { now += 1 }
      if case .answer = event.kind { now -= 1 }
      most = max(most, now)
    }
    return most
  }

  static func write(_ bytes: [UInt8], to path: NameBytes) throws {
    let descriptor = path.withPath { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
    guard descriptor >= 0 else { throw Broken(what: "open \(path): \(errno)") }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw Broken(what: "write \(path)") }
  }

  /// The content that the receiver keeps under a relative path; nil if there is none. What was posted is below it,
  /// under a name that the receiver gave: a second copy is an error.
  func kept(_ path: String) throws -> [UInt8]? {
    var entry = stat()
    guard stat("\(root)/kept/\(path)", &entry) == 0 else { return nil }
    guard entry.st_mode & S_IFMT == S_IFDIR else { return try Self.read(NameBytes("\(root)/kept/\(path)")) }
    let names = try Self.names(in: "\(root)/kept/\(path)")
    guard names.count < 2 else { throw Broken(what: "\(path) was kept \(names.count) times") }
    return try names.first.map { try Self.read(NameBytes("\(root)/kept/\(path)/\($0)")) }
  }

  static func names(in folder: String, hidden: Bool = false) throws -> [String] {
    guard let stream = opendir(folder) else { throw Broken(what: "open \(folder): \(errno)") }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if hidden ? name != "." && name != ".." : !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  static func read(_ path: NameBytes) throws -> [UInt8] {
    let descriptor = path.withPath { open($0, O_RDONLY) }
    guard descriptor >= 0 else { throw Broken(what: "\(path) is not there") }
    defer { close(descriptor) }
    var entry = stat()
    guard fstat(descriptor, &entry) == 0 else { throw Broken(what: "stat \(path): \(errno)") }
    var all = [UInt8](repeating: 0, count: Int(entry.st_size))
    guard Glibc.read(descriptor, &all, all.count) == all.count else { throw Broken(what: "read \(path): \(errno)") }
    return all
  }
}

extension NameBytes {
  func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }
}
