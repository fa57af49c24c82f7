import Receiver
import Testing
import TransferModel

/// A server that takes each body and never answers, or takes none of them: the upload is repeated as often as
/// `maxAttempts` says, and not more often because other bodies might have arrived.
@Suite struct LostAnswerTests {
  private let size = 300_000

  /// The answers of one file are lost, those of another are not.
  @Test(arguments: ["put", "dav"], [true, false])
  func aBodyWhoseAnswerIsLostIsSentEightTimes(_ name: String, hasCompany: Bool) throws {
    let scene = try ConformanceScene(.named(name), size: size, script: "match PUT */file.bin : lose-answer\n")
    if hasCompany {
      for n in 0..<20 { try Scene.write([1], to: NameBytes("\(scene.scene.root)/source/other\(n)")) }
    }
    try scene.add()
    try scene.run()
    #expect(try requests(scene, "PUT") == 8)
    #expect(try bytesOfFile(scene) == 8 * size)
    if !hasCompany { #expect(try scene.states().first?.hasPrefix("failed") == true) }
  }

  /// Each repetition may leave an upload on the server.
  @Test func aCreationWhoseAnswerIsLostIsSentEightTimes() throws {
    let scene = try ConformanceScene(.named("tus"), size: size, script: "match POST * : lose-answer\n")
    try scene.add()
    try scene.run()
    #expect(try requests(scene, "POST") == 8)
  }

  @Test func aServerThatCutsEveryBodyGetsEight() throws {
    let scene = try ConformanceScene(.named("put"), size: size, script: "match PUT * : cut-after=100000\n")
    try scene.add()
    try scene.run()
    #expect(try requests(scene, "PUT") == 8)
  }

  private func requests(_ scene: ConformanceScene, _ wanted: String) throws -> Int {
    try scene.record().count { event in
      if case .start(wanted, _) = event.kind, !"\(event.path)".contains("other") { true } else { false }
    }
  }

  private func bytesOfFile(_ scene: ConformanceScene) throws -> Int {
    try scene.record().reduce(0) { sum, event in
      if case .bytes(let range, _) = event.kind, range.length > 1 { sum + Int(range.length) } else { sum }
    }
  }
}
