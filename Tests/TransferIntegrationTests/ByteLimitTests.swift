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
    for (folder, count, size) in [("long", Self.longCount, 30_000), ("short", Self.shortCount, 100)] {
      mkdir("\(scene.root)/\(folder)", 0o700)
      for n in 0..<count {
        try Scene.write([UInt8](repeating: 7, count: size), to: NameBytes("\(scene.root)/\(folder)/f\(n)"))
      }
      let settings = BatchSettings(destination: "\(scene.url)/\(folder)/")
      _ = try TransferStore(at: scene.storePath).add(
        [NameBytes("\(scene.root)/\(folder)")], UploadOptions(settings: settings), notice: { _ in })
    }
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
    #expect(try arrived("short") == Self.shortCount && arrived("long") == 0)
    #expect(try run(maxBytes: 10_000_000).stoppedBy == nil)
    #expect(try arrived("long") == Self.longCount)
  }

  /// One long file fits, and then no other one.
  @Test func filesThatAreLongerThanWhatIsLeftKeepNoOthersWaiting() throws {
    let result = try run(maxBytes: 50_000)
    #expect(result.stoppedBy == .limit && result.done == 1 + Self.shortCount, "\(result)")
    #expect(try arrived("short") == Self.shortCount && arrived("long") == 1)
    #expect(result.bytesTransferred == 40_000)
  }
}
