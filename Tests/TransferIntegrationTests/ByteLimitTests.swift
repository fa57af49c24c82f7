import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferEngine
@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// `--max-bytes` with more long files ahead in the queue than one claim takes, judged by what the receiver has.
@Suite struct ByteLimitTests {
  private static let longCount = 300
  private static let shortCount = 100
  private let scene: Scene

  /// 300 files of 30,000 bytes, and after them 100 of 100 bytes.
  init() throws {
    scene = try Scene()
    try Self.add(Self.longCount, 30_000, "long", scene)
    try Self.add(Self.shortCount, 100, "short", scene)
  }

  /// Records files of one folder, all with the same content.
  private static func add(
    _ count: Int, _ size: Int, _ folder: String, _ scene: Scene, to place: String? = nil
  ) throws {
    mkdir("\(scene.root)/\(folder)", 0o700)
    for n in 0..<count {
      try Scene.write([UInt8](repeating: 7, count: size), to: NameBytes("\(scene.root)/\(folder)/\(size)-\(n)"))
    }
    let settings = BatchSettings(destination: place ?? "\(scene.url)/\(folder)/")
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/\(folder)")], UploadOptions(settings: settings), notice: { _ in })
  }

  private func run(maxBytes: Int64) throws -> RunResult {
    try scene.work(with: Interposed(), workers: 2) { $0.maxBytes = maxBytes }
  }

  private func arrived(_ folder: String) throws -> Int {
    try scene.commits().count { $0.path.description.hasPrefix("\(folder)/") }
  }

  @Test func filesThatAreLongerThanTheLimitKeepNoOthersWaiting() throws {
    let result = try run(maxBytes: 20_000)
    #expect(result.stoppedBy == .limit && result.done == Self.shortCount, "\(result)")
    #expect(result.tooLong.values.reduce(0, +) == Self.longCount, "more than are named")
    #expect(try arrived("short") == Self.shortCount && arrived("long") == 0)
    #expect(try run(maxBytes: 10_000_000).stoppedBy == nil)
    #expect(try arrived("long") == Self.longCount)
  }

  /// One long file fits, and then no other one.
  @Test func filesThatAreLongerThanWhatIsLeftKeepNoOthersWaiting() throws {
    let result = try run(maxBytes: 50_000)
    #expect(result.stoppedBy == .limit && result.done == 1 + Self.shortCount, "\(result)")
    #expect(result.tooLong.isEmpty, "the next run sends the next one")
    #expect(try arrived("short") == Self.shortCount && arrived("long") == 1)
    #expect(result.bytesTransferred == 40_000)
  }

  /// tus sends files in parts: which of them fit is not known before they are claimed.
  @Test func longFilesKeepNoFilesWaitingThatAreSentInParts() throws {
    let scene = try Scene()
    try Self.add(Self.longCount, 30_000, "long", scene)
    try Self.add(Self.shortCount, 100, "short", scene, to: "tus+\(scene.url)/-/tus/")
    let result = try scene.work(with: Interposed(), workers: 2) { $0.maxBytes = 50_000 }
    #expect(result.stoppedBy == .limit && result.done == 1 + Self.shortCount, "\(result)")
    #expect(try scene.commits().count == 1 + Self.shortCount)
  }

  /// They are told when they were claimed, because their parts decide.
  @Test func filesWithPartsThatAreLongerThanTheLimitAreCounted() throws {
    let scene = try Scene()
    try Self.add(3, 30_000, "long", scene, to: "tus+\(scene.url)/-/tus/")
    try Self.add(2, 100, "short", scene)
    let result = try scene.work(with: Interposed(), workers: 2) { $0.maxBytes = 20_000 }
    #expect(result.stoppedBy == .limit && (result.done, result.left) == (2, 3), "\(result)")
    #expect(result.tooLong.values.reduce(0, +) == 3, "\(result)")
  }

  /// The server refuses the batch: its files would not be sent without the limit either.
  @Test func filesOfARefusedBatchAreNotLeftBecauseOfTheLimit() throws {
    let scene = try Scene(script: "match PUT */refused/* : status=401\n")
    mkdir("\(scene.root)/refused", 0o700)
    try Scene.write([UInt8](repeating: 7, count: 30_000), to: NameBytes("\(scene.root)/refused/long"))
    try Self.add(20, 100, "refused", scene)
    let told = Lock<[Notice]>([])
    let result = try scene.work(with: Interposed(), told: told) { $0.maxBytes = 20_000 }
    #expect(result.blocked.count == 1 && result.left == 21 && result.stoppedBy == nil, "\(result)")
    let isTold = told.withLock { $0.contains { if case .tooLong = $0 { true } else { false } } }
    #expect(!isTold)
  }
}
