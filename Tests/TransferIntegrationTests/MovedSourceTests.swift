import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Sources of which only the ctime changes (backups by hard links, changed permissions), and sources that are written
/// to while their mtime is set back.
@Suite struct MovedSourceTests {
  private func path(_ scene: ConformanceScene) -> String { "\(scene.scene.root)/source/file.bin" }

  /// Links the source as `cp -al` does.
  private func link(_ scene: ConformanceScene, _ name: String) {
    #expect(Glibc.link(path(scene), "\(scene.scene.root)/\(name)") == 0)
    #expect(chmod(path(scene), 0o640) == 0)
  }

  private func rewrite(_ scene: ConformanceScene, seed: UInt64) throws {
    var status = stat()
    #expect(stat(path(scene), &status) == 0)
    try scene.write(size: scene.content.count, seed: seed)
    var times = [status.st_atim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, path(scene), &times, 0) == 0)
  }

  @Test(arguments: ConformanceSubject.all) func whatIsDoneIsNotSentAgain(_ subject: ConformanceSubject) throws {
    let scene = try ConformanceScene(subject, size: max(subject.smallestSize, 2 * subject.chunkSize + 5))
    try scene.add()
    try scene.runToEnd()
    #expect(try scene.states() == ["done"])
    let requests = try scene.requestCount
    for name in ["first", "second"] {
      link(scene, name)
      #expect(try scene.plan().counts.unchanged == 1)
      let added = try scene.add()
      #expect(added.counts.unchanged == 1 && added.counts.added == 0)
    }
    #expect(try scene.requestCount == requests)
    try rewrite(scene, seed: 2)
    #expect(try scene.plan().counts.changed == 1)
    #expect(try scene.add().counts.changed == 1)
  }

  /// A refusal in the middle, and a backup by hard links before the upload resumes.
  @Test(arguments: ConformanceSubject.withSession.filter { $0.name != "tus joined" })
  func anUploadGoesOn(_ subject: ConformanceSubject) throws {
    let scene = try half(subject)
    link(scene, "backup")
    let summary = try goOn(scene)
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(
      summary.bytesTransferred <= Int64(scene.content.count - subject.chunkSize), "it resumed from what was stored")
  }

  /// A stop while the source is compared with what was sent leaves the file unchanged; the next run compares again and
  /// resumes.
  @Test(arguments: ConformanceSubject.withSession.filter { ["tus", "resumable"].contains($0.name) })
  func aStoppedComparisonDecidesNothing(_ subject: ConformanceSubject) throws {
    let scene = try half(subject)
    link(scene, "backup")
    let before = try attempts(scene)
    try retry(scene)
    var stopped: [AttemptRow] = []
    // The number of requests before the first body depends on the protocol.
    for count in 1...4 where stopped.last?.operation != "part" {
      try scene.run(stopAt: count)
      stopped = try attempts(scene).filter { row in !before.contains { $0.id == row.id } }
      #expect(try scene.states() == ["pending"])
    }
    #expect(stopped.last?.operation == "part" && stopped.last?.outcome == "interrupted", "\(stopped)")
    #expect(stopped.allSatisfy { $0.outcome == "ok" || $0.outcome == "interrupted" })
    let summary = try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(summary.retries == 0 && summary.bytesTransferred <= Int64(scene.content.count - subject.chunkSize))
  }

  private func attempts(_ scene: ConformanceScene) throws -> [AttemptRow] {
    try scene.withLedger { try $0.read { try $0.attempts(RowFilter(), after: 0, limit: 100) } }
  }

  @Test(arguments: ConformanceSubject.withSession.filter { $0.name != "tus joined" })
  func anUploadOfAnotherContentDoesNot(_ subject: ConformanceSubject) throws {
    let scene = try half(subject)
    try rewrite(scene, seed: 2)
    try goOn(scene)
    scene.wait(hours: 1)
    try scene.run()
    #expect(try scene.states() == ["superseded source.changed", "done"])
    #expect(try scene.kept() == scene.content)
  }

  /// Two of four chunks are stored, and the file has failed for a cause that no longer exists.
  private func half(_ subject: ConformanceSubject) throws -> ConformanceScene {
    let scene = try ConformanceScene(
      subject, size: 4 * subject.chunkSize,
      script: "match \(subject.dataMethod) \(subject.dataPath) nth=3 : status=403\n")
    scene.workers = 1
    try scene.add()
    #expect(try scene.run().failed == 1)
    return scene
  }

  @discardableResult private func goOn(_ scene: ConformanceScene) throws -> RunResult {
    try retry(scene)
    return try scene.run()
  }

  private func retry(_ scene: ConformanceScene) throws {
    _ = try scene.withLedger { try $0.write { try $0.control(.retry(startsOver: false), RowFilter()) } }
  }
}
