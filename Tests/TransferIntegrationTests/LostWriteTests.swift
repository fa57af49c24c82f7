import Receiver
import Testing
import TransferModel
import TransferProtocols
import Transfers

@testable import TransferEngine
@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Downloads to a disk that loses a write. The kernel reports it to one sync; the other syncs succeed.
@Suite struct LostWriteTests: PullScenes {
  private func work(_ scene: Scene, failing number: Int = .max, of call: WritableKeyPath<FileSyncs, FileSyncs.Call>)
    throws -> RunResult
  {
    let resolver = Interposed()
    return try scene.work(with: resolver, workers: 4) { configuration in
      let calls = Lock(0)
      let real = configuration.syncs[keyPath: call]
      configuration.syncs[keyPath: call] = { descriptor in
        let count = calls.withLock { calls in
          calls += 1
          return calls
        }
        guard count == number else { return real(descriptor) }
        // Behaves like the kernel: nothing that was not synced before is on the disk, and all of it counts as written.
        var status = stat()
        guard fstat(descriptor, &status) == 0, ftruncate(descriptor, 0) == 0,
          ftruncate(descriptor, status.st_size) == 0
        else { return real(descriptor) }
        errno = EIO
        return -1
      }
    }
  }

  private func rows(_ scene: Scene, _ sql: String) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(sql) { $0.text(0) }
  }

  private func retry(_ scene: Scene) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    _ = try ledger.write { try $0.control(.retry(startsOver: false), RowFilter()) }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  @Test(arguments: [1, 2, 4]) func nothingOfAFileThatLostAWriteCounts(number: Int) throws {
    let scene = try Scene()
    let objects = try objects(scene, [400_000])
    _ = try add(scene, ["o0"])
    #expect(try work(scene, failing: number, of: \.data).failed == 1)
    #expect(try cause(scene) == "local.io")
    #expect(try rows(scene, "SELECT state FROM chunk WHERE state = 'done' OR acked > 0") == [])
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == [])
    let before = try ranges(scene, "o0").count
    try retry(scene)
    #expect(try work(scene, of: \.data).done == 1)
    #expect(try ranges(scene, "o0").dropFirst(before).reduce(0) { $0 + $1.length } == 400_000)
    try expectSame(scene, objects)
  }

  @Test func norOfOneThatWasToGetItsName() throws {
    let scene = try Scene()
    let objects = try objects(scene, [200_000])
    _ = try add(scene, ["o0"])
    #expect(try work(scene, failing: 1, of: \.all).failed == 1)
    #expect(try rows(scene, "SELECT state FROM chunk WHERE state = 'done'") == [])
    try retry(scene)
    #expect(try work(scene, of: \.all).done == 1)
    try expectSame(scene, objects)
  }
}
