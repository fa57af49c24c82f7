import Testing
import TransferEngine
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// The answer to a POST is lost; then its source is changed, and changed back.
@Suite struct ReturnedSourceTests {
  private let scene: Scene
  private var path: String { "\(scene.root)/source/file.bin" }

  init() throws {
    scene = try Scene(script: "match POST * times=1 : lose-answer\n")
    try write(1)
    _ = try scene.add(scheme: "post+")
    #expect(try scene.run().unknown == 1)
  }

  /// Each version has its own content, and was written in its own second.
  private func write(_ version: Int) throws {
    try Scene.write([UInt8](repeating: UInt8(version), count: 1_000), to: NameBytes(path))
    var times = [
      timespec(tv_sec: 1_700_000_000 + version, tv_nsec: 0), timespec(tv_sec: 1_700_000_000 + version, tv_nsec: 0),
    ]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
  }

  private func states() throws -> [String] { try scene.fileRows().map(\.state) }

  private func resolve(_ resolution: Resolution, _ file: Int64) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    _ = try ledger.write { try $0.control(.resolve(resolution, reason: "looked"), .files([FileID(rawValue: file)])) }
  }

  @Test(arguments: [true, false]) func itIsNotRepeated(_ isAddedAgain: Bool) throws {
    try write(2)
    #expect(try scene.add(scheme: "post+").counts.changed == 1)
    try write(1)
    if isAddedAgain { #expect(try scene.add(scheme: "post+").counts.changed == 1) }
    let result = try scene.run()
    #expect(result.done == 0 && result.unknown == 1)
    #expect(try scene.commits().count == 1)
    #expect(try states() == ["superseded", "superseded", "unknown"])
    #expect(
      try scene.fileRows().last?.message?.contains("f1 may have delivered this version of the source already") == true)
    try resolve(.retry, 3)
    #expect(try scene.run().done == 1)
    #expect(try scene.commits().count == 2)
  }

  /// Each POST makes an object of its own: that of the first version may be there beside the other one.
  @Test func norIsItAfterAnotherVersionWasSent() throws {
    try write(2)
    _ = try scene.add(scheme: "post+")
    #expect(try scene.run().done == 1)
    try write(1)
    #expect(try scene.add(scheme: "post+").counts.changed == 1)
    #expect(try scene.run().unknown == 1)
    #expect(try scene.commits().count == 2)
    #expect(try states() == ["superseded", "done", "unknown"])
  }
}
