import Glibc
import Testing

/// A person names a pattern, and somebody else what matches it: links among that are not followed.
@Suite struct PatternLinkTests {
  private let scene: ReceiverScene
  private var home: String { scene.folder + "/home" }

  /// Eve has put a link to the private files of Ann where the pattern looks for files to send.
  init() throws {
    scene = try ReceiverScene(script: "")
    for name in ["", "/ann", "/ann/out", "/ann/private", "/eve"] { mkdir(scene.folder + "/home" + name, 0o700) }
    try writeFile(scene.folder + "/home/ann/out/a", Array("fine".utf8))
    try writeFile(scene.folder + "/home/ann/private/diary", Array("secret".utf8))
    symlink("../ann/private", scene.folder + "/home/eve/out")
  }

  private func push(_ words: String...) throws -> BuiltProgram.Outcome {
    try scene.transfers(["push"] + words + [scene.receiver.url + "/up/"])
  }

  private func isStored(_ key: String) -> Bool { access(scene.folder + "/objects/up/" + key, F_OK) == 0 }

  @Test(arguments: ["/home/*/out", "/home/*/out/*", "/home/*/o*", "/home/*/o*/*", "/home/**/out/*"])
  func aJobNeitherSendsNorRemovesWhatIsBehindThem(_ pattern: String) throws {
    let config =
      "jobs: {out: {from: [\"\(scene.folder)\(pattern)\"], to: \"\(scene.receiver.url)/up/\", after: delete, after_proof: any}}"
    try writeFile(scene.folder + "/config.yaml", Array(config.utf8))
    chmod(scene.folder + "/config.yaml", 0o600)
    let outcome = try scene.transfers(["job", "run", "out", "--no-syslog", "--config", scene.folder + "/config.yaml"])
    #expect((outcome.code, outcome.err) == (0, ""))
    #expect(isStored("ann/out/a") && !isStored("eve/out/diary"))
    #expect(access(home + "/ann/private/diary", F_OK) == 0 && access(home + "/ann/out/a", F_OK) != 0)
  }

  @Test func aPushSaysSo() throws {
    let outcome = try push(home + "/*/out")
    #expect(
      outcome.err.contains("skipped \(home)/eve/out: a symbolic link that a pattern matches is not sent\n"),
      "\(outcome.err)")
    #expect(outcome.code == 0 && isStored("ann/out/a") && !isStored("eve/out/diary"))
    let alone = try push(home + "/e*/out")
    #expect(
      alone.code == 66 && alone.err.contains("as a pattern it matches only symbolic links, which are not followed"),
      "\(alone.err)")
  }

  @Test(arguments: [["/*/out", "/eve/out"], ["/e*/out"]])
  func whoeverNamesALinkOrAllowsThemHasThemFollowed(_ sources: [String]) throws {
    let allows = sources.count == 1 ? ["--follow-symlinks"] : []
    let outcome = try scene.transfers(["push"] + allows + sources.map { home + $0 } + [scene.receiver.url + "/up/"])
    #expect(outcome.code == 0 && isStored("eve/out/diary"), "\(outcome.out)\(outcome.err)")
  }
}
