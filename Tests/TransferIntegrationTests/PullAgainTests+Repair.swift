import Testing
import TransferEngine
import TransferModel

@testable import TransferLedger
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Files that are repaired while their server has another version.
extension PullAgainTests {
  /// Whoever verifies a file wants the content that was recorded: another version replaces nothing.
  @Test(arguments: [400_000, 300_000], [true, false])
  func aRepairTakesNoOtherVersion(_ size: Int, _ isHere: Bool) throws {
    let scene = try Scene()
    let objects = try fetched(scene, [400_000])
    if isHere { try spoil(scene, at: 200_000, 10) } else { unlink(local(scene).description) }
    let damaged = isHere ? try Scene.read(local(scene)) : nil
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    try Scene.write([UInt8](repeating: 7, count: size), to: NameBytes("\(scene.root)/kept/up/o0"))
    let result = try scene.run()
    #expect(result.done == 0 && result.failed == 1 && result.mismatched == 1, "\(result)")
    #expect((try? Scene.read(local(scene))) == damaged)
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == (isHere ? ["o0"] : []))
    let message = try texts(scene, "SELECT message FROM file ORDER BY id DESC LIMIT 1")[0]
    #expect(message.contains("\"transfers pull --overwrite\" takes"), "\(message)")
    // The server has it again.
    try Scene.write(try #require(objects["o0"]), to: NameBytes("\(scene.root)/kept/up/o0"))
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    #expect(try scene.run().done == 1)
    try expectSame(scene, objects)
    try expectSound(scene)
  }

  /// After a repair, what was found before it contradicts nothing, and a proof says where each done file is counted.
  @Test func aRepairedFileIsContradictedNoLonger() throws {
    let scene = try Scene()
    _ = try fetched(scene, [400_000])
    try spoil(scene, at: 200_000, 10)
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    func contradicted() throws -> Int {
      let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
      defer { ledger.close() }
      return try ledger.read { try $0.integrity(RowFilter()) }.contradicted
    }
    #expect(try contradicted() == 1)
    #expect(try scene.run().done == 1)
    #expect(try contradicted() == 0)
    let proof = try store.proveRemotely(RowFilter(), argv: ["test"], notice: { _ in }, stop: StopSignal())
    #expect((proof.asked, proof.replaced, proof.left) == (1, 1, 0))
  }

  /// A person takes the other version.
  @Test func anotherVersionIsTakenAfterARepairThatFailed() throws {
    let scene = try Scene()
    _ = try fetched(scene, [400_000])
    try spoil(scene, at: 200_000, 10)
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    let other = [UInt8](repeating: 7, count: 400_000)
    try Scene.write(other, to: NameBytes("\(scene.root)/kept/up/o0"))
    #expect(try scene.run().failed == 1)
    #expect(try again(scene).result.done == 1)
    try expectSame(scene, ["o0": other])
    #expect(try store.verify(RowFilter(), .all) { _, _ in }.intact == 1)
  }

  /// What a list says of a file does not contradict the repair that waits for the next run.
  @Test func aListMeetsAFileThatIsToBeRepaired() throws {
    let scene = try Scene()
    let objects = try fetched(scene, [400_000])
    try spoil(scene, at: 200_000, 10)
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    try Scene.write(Array("url,path,size\n\(scene.url)/up/o0,o0,400000\n".utf8), to: NameBytes("\(scene.root)/l.csv"))
    let list = DownloadList(path: NameBytes("\(scene.root)/l.csv"))
    var options = DownloadOptions([.list(list)], to: NameBytes("\(scene.root)/in"))
    options.options["part-size"] = .number(64 << 10)
    #expect(try store.add(options).counts.queued == 1)
    try Scene.write(Array("url,path,size\n\(scene.url)/up/o0,o0,9\n".utf8), to: NameBytes("\(scene.root)/l.csv"))
    #expect(throws: TransferError.self) { try store.add(options) }
    #expect(try scene.run().done == 1)
    try expectSame(scene, objects)
  }
}
