import Receiver
import Testing
import TransferEngine
import TransferModel
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Names that servers give (Content-Disposition), if they are requested.
@Suite struct RemoteNamesTests: PullScenes {
  private func scene(_ names: [String]) throws -> (scene: Scene, content: [[UInt8]]) {
    let script = names.enumerated().filter { !$0.element.isEmpty }.map { n, name in
      "match GET /up/o\(n) : field=\"Content-Disposition: attachment; filename\(name)\"\n"
    }
    let scene = try Scene(script: script.joined())
    let all = try objects(scene, names.map { _ in 100_000 })
    return (scene, names.indices.map { all["o\($0)"] ?? [] })
  }

  private func pull(_ scene: Scene, _ count: Int, overwrites: Bool = false) throws -> Scene.Outcome {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(
      urls: (0..<count).map { scene.url + "/up/o\($0)" }, folder: NameBytes("\(scene.root)/in"))
    (options.usesRemoteNames, options.overwrites) = (true, overwrites)
    options.options["part-size"] = .number(64 << 10)
    let added = try TransferStore(at: scene.storePath).add(options)
    return Scene.Outcome(added: added, result: try scene.run())
  }

  private func paths(_ scene: Scene) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT path FROM file ORDER BY id") {
      NameBytes($0.name(0).bytes).lastComponent.description
    }
  }

  private func expectSound(_ scene: Scene) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  @Test func filesAreCalledWhatTheirServersSay() throws {
    let (scene, content) = try scene(["=report.pdf", ""])
    #expect(try pull(scene, 2).result.done == 2)
    try expectSame(scene, ["report.pdf": content[0], "o1": content[1]])
    #expect(try paths(scene) == ["report.pdf", "o1"])
    try expectSound(scene)
    let verified = try TransferStore(at: scene.storePath).verify(RowFilter(), .all) { _, _ in }
    #expect(verified.intact == 2)
  }

  @Test func namesAreNotUsedUnlessTheyAreAskedFor() throws {
    let (scene, content) = try scene(["=report.pdf"])
    #expect(try pull(scene, ["o0"]).result.done == 1)
    try expectSame(scene, ["o0": content[0]])
  }

  /// No file lands elsewhere, and none is hidden.
  @Test(arguments: [
    ("%2e%2e%2f..%2Fx", "x"), ("%2Fetc%2F.x", "x"), ("..%5C..%5Cx", "x"), ("..", "o0"), ("a%2F", "o0"), ("NUL", "o0"),
    ("x%00y%0A", "xy"),
  ])
  func aHostileNameLeadsNowhere(_ name: String, _ fit: String) throws {
    let (scene, content) = try scene(["*=UTF-8''\(name)"])
    #expect(try pull(scene, 1).result.done == 1)
    try expectSame(scene, [fit: content[0]])
  }

  /// The second fails before any file has its name, even if existing files may be replaced.
  @Test(arguments: [false, true]) func twoOfOneNameAreAnError(_ overwrites: Bool) throws {
    let (scene, content) = try scene(["=same", "=same"])
    let outcome = try pull(scene, 2, overwrites: overwrites)
    #expect(outcome.result.done == 1 && outcome.result.failed == 1, "\(outcome.result)")
    let kept = try Scene.read(NameBytes("\(scene.root)/in/same"))
    #expect(content.contains(kept))
    let cause = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT cause FROM file WHERE state = 'failed'"
    ) { $0.text(0) }
    #expect(cause == ["policy.exists"])
    try expectSound(scene)
  }

  @Test func whatStandsThereStays() throws {
    let (scene, _) = try scene(["=mine"])
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write(Array("mine".utf8), to: NameBytes("\(scene.root)/in/mine"))
    #expect(try pull(scene, 1).result.failed == 1)
    #expect(try Scene.read(NameBytes("\(scene.root)/in/mine")) == Array("mine".utf8))
  }
}
