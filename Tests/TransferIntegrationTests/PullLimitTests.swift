import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferEngine
@testable import TransferLedger

/// `--max-bytes` and answers that are longer than what was asked for, with or without a length.
@Suite struct PullLimitTests: PullScenes {
  private static let most: Int64 = 1_000_000

  @Test(arguments: ["ignore-range chunked", "ignore-range no-length", "ignore-range"])
  func aBodyThatIsLongerThanAskedForKeepsTheLimit(_ action: String) throws {
    let scene = try Scene(script: "match GET * : \(action)\n")
    let objects = try objects(scene, [3_000_000])
    _ = try add(scene, ["o0"])
    let told = Lock<[Notice]>([])
    let result = try scene.work(with: Interposed(), told: told) { $0.maxBytes = Self.most }
    #expect(result.stoppedBy == .limit && (result.done, result.left, result.failed) == (0, 1, 0), "\(result)")
    // What was on its way in one buffer is discarded.
    #expect(result.bytesTransferred <= Self.most + 128 << 10, "\(result.bytesTransferred)")
    #expect(try cause(scene) == ErrorCode.policyLimit.rawValue)
    let reasons = told.withLock { notices in
      notices.compactMap { if case .waiting(_, let failure) = $0 { failure.message } else { nil } }
    }
    #expect(reasons.count == 1 && reasons[0].contains("--max-bytes"), "\(reasons)")
    // The next run tries it at once.
    let next = try scene.work(with: Interposed()) { $0.maxBytes = 4_000_000 }
    #expect(next.done == 1 && next.stoppedBy == nil, "\(next)")
    try expectSame(scene, objects)
  }

  /// Each of them fits, and together they do not: what one does not use is left for the others.
  @Test(arguments: ["ignore-range chunked", "ignore-range"])
  func bodiesShareTheLimit(_ action: String) throws {
    let scene = try Scene(script: "match GET * : \(action)\n")
    let objects = try objects(scene, [400_000, 400_000, 400_000])
    _ = try add(scene, objects.keys.sorted())
    let result = try scene.work(with: Interposed(), workers: 1) { $0.maxBytes = Self.most }
    #expect(result.stoppedBy == .limit && (result.done, result.left) == (2, 1), "\(result)")
    #expect(result.bytesTransferred <= Self.most + 128 << 10, "\(result.bytesTransferred)")
    #expect(try scene.work(with: Interposed(), workers: 1) { $0.maxBytes = Self.most }.done == 1)
    try expectSame(scene, objects)
  }

  /// The limit is shorter than the beginning that the first request of a file asks for, and longer than each file.
  @Test func filesThatFitAreFetchedUnderAShortLimit() throws {
    let scene = try Scene()
    let objects = try objects(scene, [200_000, 200_000, 200_000])
    _ = try add(scene, objects.keys.sorted(), partSize: nil)
    for left in [2, 1, 0] {
      let result = try scene.work(with: Interposed(), workers: 1) { $0.maxBytes = 300_000 }
      #expect((result.done, result.left) == (1, left), "\(result)")
      #expect(result.bytesTransferred == 200_000)
    }
    try expectSame(scene, objects)
  }

  /// No run with this limit can fetch the file: that is said once its size is known.
  @Test func aFileThatNeverFitsIsTold() throws {
    let scene = try Scene()
    _ = try objects(scene, [3_000_000])
    _ = try add(scene, ["o0"], partSize: nil)
    let told = Lock<[Notice]>([])
    for _ in 0..<2 {
      let result = try scene.work(with: Interposed(), told: told) { $0.maxBytes = 300_000 }
      #expect(result.stoppedBy == .limit && result.left == 1, "\(result)")
    }
    let limits = told.withLock { notices in
      notices.compactMap { if case .tooLong(_, _, let body, let limit) = $0 { (body, limit) } else { nil } }
    }
    #expect(!limits.isEmpty && limits.allSatisfy { $0.0 > $0.1 && $0.1 == 300_000 }, "\(limits)")
  }
}
