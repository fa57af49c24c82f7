import Glibc
import Testing

/// Links that are named as sources, beside others: what was sent from below them is removed there.
@Suite struct NamedLinkRemovalTests {
  private let scene: ReceiverScene
  private var folder: String { scene.folder }

  /// One link is absolute, one leads out of the folder that keys are relative to, and one stays inside.
  init() throws {
    scene = try ReceiverScene(script: "")
    for name in ["big", "other", "in/d", "in/real"] {
      mkdir("\(scene.folder)/\(name)", 0o700)
      try writeFile("\(scene.folder)/\(name)/f", Array("of \(name)".utf8))
    }
    symlink(scene.folder + "/big", scene.folder + "/in/abs")
    symlink("../other", scene.folder + "/in/out")
    symlink("real", scene.folder + "/in/inside")
  }

  private func isThere(_ name: String) -> Bool { access("\(folder)/\(name)", F_OK) == 0 }

  @Test(arguments: ["delete", "move"]) func theirFilesGoAndTheyStay(_ action: String) throws {
    mkdir(folder + "/moved", 0o700)
    let sources = ["abs", "out", "inside", "d"].map { "\(folder)/in/\($0)" }
    let after = action == "move" ? "move:\(folder)/moved" : action
    let outcome = try scene.transfers(["push"] + sources + [scene.receiver.url + "/up/", "--after", after])
    #expect(outcome.code == 0 && !outcome.err.contains("kept"), "\(outcome.err)")
    for name in ["big/f", "other/f", "in/real/f", "in/d/f"] { #expect(!isThere(name), "\(name)") }
    for name in ["in/abs", "in/out", "in/inside"] { #expect(isThere(name), "\(name)") }
    for name in ["abs", "out", "inside", "d"] {
      #expect(isThere("objects/up/\(name)/f"))
      #expect(isThere("moved/\(name)/f") == (action == "move"), "\(name)")
    }
    #expect(try scene.transfers(["store", "check"]).code == 0)
  }
}
