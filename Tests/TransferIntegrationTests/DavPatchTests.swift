import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// The special cases of WebDAV by PATCH, judged by what the receiver got: a MOVE that is repeated without a query
/// removes the file there, as it does with sabre/dav.
@Suite struct DavPatchTests {
  private func scene(_ script: String, size: Int? = nil, existing: [UInt8]? = nil, keeps: Bool = false) throws
    -> ConformanceScene
  {
    var subject = try ConformanceSubject.named("davpatch")
    if keeps { subject.adjust = { $0.options["if-none-match"] = true } }
    let scene = try ConformanceScene(subject, size: size ?? 2 * subject.chunkSize + 5, script: script)
    if let existing {
      mkdir("\(scene.scene.root)/kept/up", 0o755)
      try Scene.write(existing, to: NameBytes("\(scene.scene.root)/kept/up/file.bin"))
    }
    try scene.add()
    return scene
  }

  private func received(_ scene: ConformanceScene) throws -> Int64 {
    try scene.record().reduce(0) { sum, event in
      if case .bytes(let range, _) = event.kind { sum + range.length } else { sum }
    }
  }

  private func methods(_ scene: ConformanceScene) throws -> [String] {
    try scene.record().compactMap { event in if case .start(let method, _) = event.kind { method } else { nil } }
  }

  private func wasDeleted(_ scene: ConformanceScene) throws -> Bool {
    try scene.record().contains { if case .delete = $0.kind { true } else { false } }
  }

  @Test func theRequestsOfAFile() throws {
    let scene = try scene("")
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(
      try methods(scene) == ["OPTIONS", "PUT", "PATCH", "PATCH", "PATCH", "HEAD", "MOVE", "HEAD"])
    let confirmed = try scene.look { try $0.files(RowFilter(), after: 0, limit: 1) }.map(\.confirmedBy)
    #expect(confirmed == ["digest"])
  }

  @Test func aBodyThatBreaksOffGoesOnWhereItIs() throws {
    let scene = try scene("match PATCH * nth=2 : cut-after=40000\n")
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try received(scene) == Int64(scene.content.count), "something was sent twice")
  }

  /// If HEAD is not allowed, a body whose answer was lost is sent twice, and to the same offset.
  @Test func aBodyInDoubtThatCannotBeAskedAboutIsSentToItsPlace() throws {
    let scene = try scene("match PATCH * nth=2 : lose-answer\nmatch HEAD * : status=405\n")
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try scene.states() == ["done"])
    #expect(try methods(scene).filter { $0 == "PATCH" }.count == 4)
  }

  @Test(arguments: [
    "lose-answer", "late-status=503", "late-status=200", "locked=1", "truncate-answer", "reset-after=0",
  ])
  func aMoveInDoubtIsAskedAbout(_ fault: String) throws {
    for existing in [nil, [UInt8](repeating: 1, count: 9)] {
      let scene = try scene("match MOVE * nth=1 : \(fault)\n", existing: existing)
      try scene.runToEnd()
      let complaint = try scene.complaint()
      #expect(complaint == nil)
      #expect(try scene.states() == ["done"])
      #expect(try !wasDeleted(scene), "a MOVE was repeated without a query")
      #expect(try received(scene) == Int64(scene.content.count))
    }
  }

  /// The object is ours although its name is now taken.
  @Test func aLostMoveToAFreeNameIsNoConflict() throws {
    let scene = try scene("match MOVE * nth=1 : lose-answer\n", keeps: true)
    try scene.runToEnd()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try scene.states() == ["done"])
    #expect(try methods(scene).filter { $0 == "MOVE" }.count == 1)
  }

  @Test(arguments: [0, 100_000]) func whatIsThereIsKeptWhenToldSo(size: Int) throws {
    let scene = try scene("", size: size, existing: [1, 2, 3], keeps: true)
    try scene.run()
    #expect(try scene.states() == ["failed policy.exists"])
    #expect(try scene.kept() == [1, 2, 3])
    #expect(try scene.openSessions() == [], "the temporary object was not removed")
  }

  /// The old object stays until the MOVE, and there is never a fragment.
  @Test func whatWasThereStaysUntilAllOfTheNewIsThere() throws {
    let scene = try scene("match HEAD * nth=1 : status=503 retry-after=7200\n", existing: [1, 2, 3])
    try scene.run()
    #expect(try scene.states().first?.hasPrefix("pending") == true)
    #expect(try scene.kept() == [1, 2, 3])
    scene.wait(hours: 3)
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try received(scene) == Int64(scene.content.count))
  }

  /// Bytes that the server silently loses leave a gap of zeros in an object of the right length: its digest differs, so
  /// the object does not get its name.
  @Test func anObjectWithAGapDoesNotGetItsName() throws {
    let scene = try scene("match PATCH * nth=1 : wrong-offset=1000\n", existing: [1, 2, 3])
    try scene.runToEnd()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try scene.states() == ["done"])
    #expect(try methods(scene).filter { $0 == "MOVE" }.count == 1)
    #expect(try methods(scene).contains("DELETE"), "the useless object was not removed")
    #expect(try scene.openSessions() == [])
  }

  /// The temporary object vanished when the MOVE was lost, and an older object of the same size has the name.
  @Test func anOlderObjectIsNotTakenForTheNewOne() throws {
    let subject = try ConformanceSubject.named("davpatch")
    let size = 2 * subject.chunkSize
    let script = "match MOVE * nth=1 : status=500\nmatch HEAD * nth=2 : forget-session\n"
    let scene = try scene(script, size: size, existing: [UInt8](repeating: 7, count: size))
    try scene.runToEnd()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try scene.states() == ["done"])
  }

  /// HEAD is not allowed: a MOVE in doubt is left to the user, because repeating it may remove the file.
  @Test func aMoveInDoubtThatCannotBeAskedAboutIsUnknown() throws {
    let scene = try scene("match MOVE * nth=1 : lose-answer\nmatch HEAD * : status=405\n")
    try scene.runToEnd()
    #expect(try scene.states().first?.hasPrefix("unknown") == true)
    #expect(try methods(scene).filter { $0 == "MOVE" }.count == 1)
    #expect(try scene.kept() == scene.content)
  }

  /// A retry permits sending the file again: asking once more would be in vain.
  @Test func aRetryOfAMoveInDoubtSendsTheFileAgain() throws {
    let scene = try scene("match MOVE * nth=1 : lose-answer\nmatch HEAD * : omit=ETag,Repr-Digest\n")
    try scene.runToEnd()
    #expect(try scene.states().first?.hasPrefix("unknown") == true)
    try scene.withLedger { ledger in _ = try ledger.control(.retry(startsOver: false), RowFilter()) }
    try scene.runToEnd()
    #expect(try scene.states() == ["done"])
    #expect(try scene.kept() == scene.content)
    #expect(try methods(scene).filter { $0 == "MOVE" }.count == 2)
  }

  @Test func missingCollectionsAreMade() throws {
    let scene = try scene("match PUT * nth=1 : status=409\n")
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    #expect(try methods(scene).prefix(7) == ["OPTIONS", "PUT", "MKCOL", "MKCOL", "MKCOL", "PUT", "PATCH"])
  }

  @Test func aServerWithoutPatchIsSaid() throws {
    let scene = try scene("match OPTIONS * : status=204\n")
    try scene.run()
    #expect(try scene.states() == ["failed proto.unsupported"])
    #expect(try scene.messages().first?.contains("dav+") == true)
    #expect(try scene.requestCount == 1)
  }
}
