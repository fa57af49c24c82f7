import Receiver
import Testing
import struct TransferEngine.SystemClock
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Several destinations in one run: one that is dead or slow does not delay any other.
@Suite struct DestinationShareTests {
  /// Far more files than an engine keeps in memory are recorded for a port that refuses connections, then a few for a
  /// server.
  @Test func aDeadDestinationDoesNotStarveAnother() throws {
    let pair = try DestinationPair(first: try .refusing())
    try pair.add(first: 600, then: 20)
    let result = try pair.runUntilSecondIsDone(workers: nil)
    #expect(result.done == 20)
    #expect(try pair.kept() == 20)
  }

  /// Many runs of a cron job each left a batch for it.
  @Test func manyBatchesOfADeadDestinationDoNotStarveAnother() throws {
    let pair = try DestinationPair(first: try .refusing())
    for n in 0..<70 { try pair.addToFirst(count: 6, folder: "cron\(n)") }
    try pair.add(first: 0, then: 20)
    let result = try pair.runUntilSecondIsDone(workers: 4)
    #expect(result.done == 20)
    #expect(try pair.failuresAtFirst() <= 16, "each batch was tried separately")
  }

  /// A server accepts connections and bodies, and never answers. No request to it ends before all others are done.
  @Test(arguments: [nil, 2, 16])
  func aSilentDestinationDoesNotStarveAnother(workers: Int?) throws {
    let pair = try DestinationPair(first: try .silent())
    try pair.add(first: 600, then: 20)
    let result = try pair.runUntilSecondIsDone(workers: workers)
    #expect(result.done == 20)
    #expect(try pair.failuresAtFirst() == 0)
  }

  /// Requests that must not be repeated start only when a connection is free; connections of other destinations do not
  /// count.
  @Test func aSilentDestinationDoesNotStarveFormsForAnother() throws {
    let pair = try DestinationPair(first: try .silent(), scheme: "form+")
    try pair.add(first: 100, then: 20)
    let result = try pair.runUntilSecondIsDone(workers: 16)
    #expect(result.done == 20)
    #expect(try pair.failuresAtFirst() == 0)
  }

  /// Only a few upload sessions may be open at a time.
  @Test func aSilentDestinationDoesNotKeepAllSessions() throws {
    let pair = try DestinationPair(first: try .silent(), scheme: "tus+", place: "/-/tus/")
    try pair.add(first: 40, then: 4, size: 10 << 20)
    let result = try pair.runUntilSecondIsDone(workers: 16)
    #expect(result.done == 4)
    #expect(try pair.failuresAtFirst() == 0)
  }
}

/// A destination that does not work, and a receiver that does.
final class DestinationPair {
  let scene: Scene
  private let first: DeadEnd
  private let scheme: String
  private let place: String
  private var count = 0

  init(first: DeadEnd, scheme: String = "", place: String = "/up/") throws {
    (self.first, self.scheme, self.place) = (first, scheme, place)
    scene = try Scene()
  }

  func add(first count: Int, then others: Int, size: Int = 100) throws {
    if count > 0 { try addToFirst(count: count, folder: "first", size: size) }
    try add(others, folder: "second", size: size, to: scene.url)
    self.count = others
  }

  func addToFirst(count: Int, folder: String, size: Int = 100) throws {
    try add(count, folder: folder, size: size, to: first.url)
  }

  private func add(_ count: Int, folder: String, size: Int, to url: String) throws {
    let path = "\(scene.root)/source/\(folder)"
    mkdir(path, 0o700)
    for n in 0..<count {
      try Scene.write([UInt8](repeating: UInt8(n % 251), count: size), to: NameBytes("\(path)/f\(n)"))
    }
    let options = UploadOptions(settings: BatchSettings(destination: "\(scheme)\(url)\(place)"))
    _ = try TransferStore(at: scene.storePath).add([NameBytes(path)], options, notice: { _ in })
  }

  /// Stops the run immediately when the receiver has its files.
  func runUntilSecondIsDone(workers: Int?) throws -> RunResult {
    let stop = StopSignal()
    return try TransferStore(at: scene.storePath).run(
      RunOptions(workers: workers, argv: ["test"]),
      progress: { [count] in if $0.filesDone == count { stop.stopNow() } }, notice: { _ in }, stop: stop)
  }

  func kept() throws -> Int { try scene.commits().count }

  /// The requests to the first destination that ended and were not stopped by us.
  func failuresAtFirst() throws -> Int {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    let attempts = try ledger.read { try $0.attempts(RowFilter(), after: 0, limit: 10_000) }
    return attempts.count { $0.outcome != "ok" && $0.outcome != "interrupted" && $0.outcome != "unknown" }
  }
}

/// A local port on which nobody answers.
final class DeadEnd {
  let url: String
  private let descriptor: Int32

  /// Refuses connections.
  static func refusing() throws -> DeadEnd { try DeadEnd(backlog: nil) }
  /// The kernel accepts connections and their data; nobody reads them.
  static func silent() throws -> DeadEnd { try DeadEnd(backlog: 1_024) }

  private init(backlog: Int32?) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Scene.Broken(what: "socket: \(errno)") }
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
      }
    }
    guard port else { throw Scene.Broken(what: "bind: \(errno)") }
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    // A port that is bound without listening refuses connections, and nobody else can get it.
    if let backlog, listen(descriptor, backlog) != 0 { throw Scene.Broken(what: "listen: \(errno)") }
  }

  deinit { close(descriptor) }
}
