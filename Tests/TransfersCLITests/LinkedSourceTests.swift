import Glibc
import Testing

/// Whether a file may be opened through a symbolic link is decided each time it is added, not by an older row of it.
@Suite struct LinkedSourceTests {
  private let scene: ReceiverScene
  private var source: String { scene.folder + "/in" }

  init() throws {
    scene = try ReceiverScene(script: "")
    for name in ["in/d", "secret"] { mkdir(scene.folder + "/" + name, 0o700) }
    try writeFile(scene.folder + "/in/d/y", Array("mine".utf8))
    try writeFile(scene.folder + "/secret/y", Array("secret".utf8))
  }

  private func transfers(_ words: String...) throws -> BuiltProgram.Outcome {
    try scene.transfers(words.map { $0.replacing("URL", with: scene.receiver.url + "/up/") })
  }

  /// The content of its object; nil if there is none.
  private func stored() -> String? { try? readText(scene.folder + "/objects/up/d/y") }

  /// The folder was moved to another disk, and a link put into its place.
  @Test(arguments: [false, true]) func whoeverAllowsTheLinkHasItsFilesSent(hasFailed: Bool) throws {
    #expect(try transfers("add", source, "URL").code == 0)
    rename(source + "/d", scene.folder + "/moved")
    symlink(scene.folder + "/moved", source + "/d")
    if hasFailed { try expectRefused(try transfers("run")) }
    let outcome = try transfers("push", "--follow-symlinks", source, "URL")
    #expect(outcome.code == 0 && stored() == "mine", "\(outcome.out)\(outcome.err)")
    #expect(try transfers("store", "check").code == 0)
  }

  @Test func whoeverNoLongerAllowsLinksHasNoneFollowed() throws {
    #expect(try transfers("add", "--follow-symlinks", source, "URL").code == 0)
    #expect(try transfers("add", source, "URL").code == 0)
    rename(source + "/d", scene.folder + "/moved")
    symlink(scene.folder + "/secret", source + "/d")
    try expectRefused(try transfers("run"))
  }

  private func expectRefused(_ outcome: BuiltProgram.Outcome) throws {
    #expect(outcome.code == 4 && (outcome.out + outcome.err).contains("source.kind"), "\(outcome.out)\(outcome.err)")
    #expect(stored() == nil)
  }
}
