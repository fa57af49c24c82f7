import Receiver
import Testing
import TransferLedger
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// What every upload protocol has to withstand, against the bundled receiver and judged by what that kept: one suite
/// for all. Every sweep breaks each request of an upload in turn.
@Suite struct ConformanceTests {
  typealias Subject = ConformanceSubject

  /// Three chunks and a short one; only one if chunks are large, because the receiver's checksums take long without
  /// optimisation.
  private static func size(_ subject: Subject) -> Int {
    (subject.chunkSize > 1 << 20 ? 1 : 3) * subject.chunkSize + 5
  }

  /// By name of the subject, so that each is counted once and not for every sweep.
  private static let counted = Lock<[String: Int]>([:])

  /// The number of requests of an upload without faults.
  private func requests(_ subject: Subject) throws -> Int {
    if let count = Self.counted.withLock({ $0[subject.name] }) { return count }
    let scene = try ConformanceScene(subject, size: Self.size(subject))
    try scene.add()
    try scene.run()
    try #require(try scene.complaint() == nil)
    let count = try scene.requestCount
    Self.counted.withLock { $0[subject.name] = count }
    return count
  }

  /// The long form of the suite: `tools/test --long`.
  private static let isLong = getenv("TRANSFERS_TEST_LONG") != nil

  /// Breaks the `n`-th request with `fault`, for each n or for the first, the middle and the last, and lets the engine
  /// continue.
  private func sweep(_ subject: Subject, _ fault: String, each: Bool = true) throws {
    let count = try requests(subject)
    for n in 1...count where each || Self.isLong || [1, (count + 1) / 2, count].contains(n) {
      let scene = try ConformanceScene(subject, size: Self.size(subject), script: "match * * nth=\(n) : \(fault)\n")
      try scene.add()
      try scene.runToEnd()
      let complaint = try scene.complaint()
      #expect(complaint == nil, "\(fault) at request \(n)")
    }
  }

  @Test(arguments: Subject.all) func everySizeArrives(subject: Subject) throws {
    let chunk = subject.chunkSize
    for size in [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 5] where size >= subject.smallestSize {
      let scene = try ConformanceScene(subject, size: size)
      try scene.add()
      try scene.run()
      let complaint = try scene.complaint()
      #expect(complaint == nil, "\(size) bytes")
      #expect(try scene.add().counts.unchanged == 1)
    }
  }

  @Test(arguments: Subject.all) func aLostAnswerNeverLosesOrDoublesAnything(subject: Subject) throws {
    try sweep(subject, "lose-answer")
  }

  @Test(arguments: Subject.all, ["status=503", "status=429 retry-after=0", "reset-after=0", "truncate-answer"])
  func aFailureOfAnyRequestIsOvercome(subject: Subject, fault: String) throws {
    // A 429 is interpreted like a 503, and a truncated answer like a lost one: only 503 and the lost answer are tried
    // at each request.
    try sweep(subject, fault, each: fault == "status=503" || fault == "reset-after=0")
  }

  @Test(arguments: Subject.all) func aBodyThatIsCutAnywhereGoesOn(subject: Subject) throws {
    for bytes in [1, subject.chunkSize / 2, subject.chunkSize - 1] {
      for n in [1, 2] {
        let scene = try ConformanceScene(
          subject, size: Self.size(subject),
          script: "match \(subject.dataMethod) \(subject.dataPath) nth=\(n) : cut-after=\(bytes)\n")
        try scene.add()
        try scene.run()
        let complaint = try scene.complaint()
        #expect(complaint == nil, "cut after \(bytes) in body \(n)")
      }
    }
  }

  /// A gateway that gives up on what it delivered, and the page that follows a form: what took effect is not repeated
  /// silently.
  @Test(arguments: Subject.all, ["late-status=503", "late-status=302 redirect=/elsewhere"])
  func whatFollowsDeliveryDoublesNothing(subject: Subject, fault: String) throws {
    for n in 1...(try requests(subject)) {
      let scene = try ConformanceScene(subject, size: Self.size(subject), script: "match * * nth=\(n) : \(fault)\n")
      try scene.add()
      try scene.runToEnd()
      let (states, messages) = (try scene.states(), try scene.messages())
      let isSaid = fault.contains("302") && states.count == 1 && states[0].hasPrefix("failed") && messages.count == 1
      let complaint = isSaid ? nil : try scene.complaint()
      #expect(complaint == nil, "\(fault) at request \(n)")
      guard !subject.hasSession, subject.mayBeUnknown else { continue }
      #expect(states.first?.hasPrefix("unknown") == true)
      #expect(try scene.requestCount == 1)
    }
  }

  /// A fixed answer, a login page, a handler that ignores the body.
  @Test(arguments: Subject.early)
  func aSuccessBeforeTheBodyIsNone(subject: Subject, status: Int) throws {
    let chunk = subject.largeChunk
    let size = subject.hasSession ? 2 * chunk : chunk
    let fault = "match \(subject.dataMethod) \(subject.dataPath) times=2 : early-status=\(status)\n"
    let scene = try ConformanceScene(subject, size: size, script: fault)
    try scene.add(partSize: subject.hasSession ? chunk : nil)
    try scene.runToEnd()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
    guard !subject.hasSession, subject.mayBeUnknown else { return }
    #expect(try scene.states().first?.hasPrefix("unknown") == true)
    #expect(try scene.requestCount == 1)
  }

  /// It says so each time, and each time without the body: nobody knows what it has, and the file has not failed.
  @Test(arguments: Subject.large.filter { !$0.hasSession && !$0.mayBeUnknown })
  func successesBeforeTheBodyLeaveItUnknown(subject: Subject) throws {
    let fault = "match \(subject.dataMethod) \(subject.dataPath) times=99 : early-status=200\n"
    let scene = try ConformanceScene(subject, size: 12 << 20, script: fault)
    scene.maxAttempts = 2
    try scene.add()
    try scene.runToEnd()
    #expect(try scene.states() == ["unknown proto.lost_answer"])
    #expect(try scene.messages().first?.contains("the state of the file is not known") == true)
    #expect(try scene.requestCount <= 4)
  }

  @Test(arguments: Subject.withSession) func aForgottenSessionIsBegunAnew(subject: Subject) throws {
    try sweep(subject, "forget-session")
  }

  @Test(arguments: Subject.appending) func aServerThatFallsBackIsTheOnlyTruth(subject: Subject) throws {
    try sweep(subject, "wrong-offset=1000")
  }

  /// HEAD reports 0, but the file holds bytes: what is sent there is appended to them.
  @Test(arguments: Subject.withHead, ["nth=1 : lose-answer", "nth=1 : cut-after=30000", "nth=2 : status=500"])
  func aServerThatForgetsWhereItIsGetsAnotherUpload(subject: Subject, fault: String) throws {
    let script = "match PATCH * \(fault)\nmatch HEAD * nth=1 : forget-offset\n"
    let scene = try ConformanceScene(subject, size: Self.size(subject), script: script)
    try scene.add()
    try scene.runToEnd()
    #expect(try scene.complaint() == nil)
    #expect(try scene.states() == ["done"])
    #expect(try scene.openSessions() == [], "the useless upload was not ended")
  }

  /// A query is not allowed, which does not mean that nothing is stored: nothing that arrived is sent again.
  @Test(arguments: Subject.withHead, [403, 405])
  func whatCannotBeAskedIsNotSentAgain(subject: Subject, status: Int) throws {
    let script = "match PATCH * nth=2 : status=500\nmatch HEAD * : status=\(status)\n"
    let scene = try ConformanceScene(subject, size: Self.size(subject), script: script)
    try scene.add()
    try scene.runToEnd()
    #expect(try scene.complaint() == nil)
    #expect(try scene.states() == ["done"])
    let opened = try scene.record().filter { event in
      if case .session(_, _, .opened) = event.kind { true } else { false }
    }
    #expect(opened.count == 1, "another upload was opened")
  }

  /// Stops the upload after its first chunks for hours, with all of its state on the server.
  private func interrupted(_ subject: Subject) throws -> ConformanceScene {
    let scene = try ConformanceScene(
      subject, size: Self.size(subject),
      script: "match \(subject.dataMethod) \(subject.dataPath) nth=2 : status=503 retry-after=7200\n")
    try scene.add()
    try scene.run()
    #expect(try scene.states().first?.hasPrefix("pending") == true)
    return scene
  }

  @Test(arguments: Subject.adjustable) func otherSettingsDoNotChangeAnUploadThatBegan(subject: Subject) throws {
    let scene = try interrupted(subject)
    #expect(try scene.add(partSize: 2 * subject.chunkSize).counts.queued == 1)
    scene.wait(hours: 3)
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
  }

  @Test(arguments: Subject.withSession) func aChangedSourceIsNeverMixed(subject: Subject) throws {
    let scene = try interrupted(subject)
    try scene.write(size: Self.size(subject) + 1, seed: 2)
    #expect(try scene.add().counts.added == 1)
    scene.wait(hours: 3)
    try scene.run()
    #expect(try scene.states() == ["superseded source.changed", "done"])
    #expect(try scene.kept() == scene.content)
    let commits = try scene.record().filter { if case .commit = $0.kind { true } else { false } }
    #expect(commits.count == 1, "the old version was completed, or a mixture")
  }

  /// A session without an announced expiry may still exist. If the server announces expiries, each of its sessions has
  /// already expired by our clock, which is a month ahead: the file waits, and there is no storm of new sessions.
  @Test(arguments: Subject.withSession) func anUploadThatRestedForAMonthArrivesOrWaits(subject: Subject) throws {
    let scene = try interrupted(subject)
    scene.wait(hours: 31 * 24)
    try scene.runToEnd()
    let states = try scene.states()
    let complaint = states == ["pending proto.session_gone"] ? nil : try scene.complaint()
    #expect(complaint == nil)
    #expect(try scene.requestCount <= 24)
  }

  /// Another client holds the upload, or the server says that our request does not match its state: the server is
  /// queried again, waited for, or the conflict is reported in one line; the file never differs from the source.
  @Test(arguments: Subject.all, ["status=409", "locked=1"])
  func aConflictIsOvercomeOrSaid(subject: Subject, fault: String) throws {
    for n in 1...(try requests(subject)) {
      let script = fault == "locked=1" && !subject.hasSession ? "status=423" : fault
      let scene = try ConformanceScene(subject, size: Self.size(subject), script: "match * * nth=\(n) : \(script)\n")
      try scene.add()
      try scene.runToEnd()
      let (states, messages) = (try scene.states(), try scene.messages())
      let isSaid = states.count == 1 && states[0].hasPrefix("failed") && messages.count == 1
      let complaint = isSaid ? nil : try scene.complaint()
      #expect(complaint == nil, "\(script) at request \(n)")
      if isSaid, let kept = try scene.kept() { #expect(kept == scene.content, "\(script) at request \(n)") }
    }
  }

  @Test(arguments: Subject.withSession) func aCancelledUploadLeavesNothingBehind(subject: Subject) throws {
    let scene = try interrupted(subject)
    _ = try scene.withLedger { ledger in try ledger.write { try $0.control(.cancel, RowFilter()) } }
    scene.wait(hours: 3)
    try scene.run()
    #expect(try scene.states() == ["cancelled policy.cancelled"])
    let abandonedSessions = try scene.look { try $0.abandonedSessions(RowFilter(), after: 0, limit: 10) }
    #expect(abandonedSessions == [])
    #expect(try scene.kept() == nil)
    if subject.canAbort { #expect(try scene.openSessions() == []) }
  }

  @Test(arguments: Subject.withSession.filter(\.canAbort)) func nothingIsLeftOfAnUploadThatIsDone(subject: Subject)
    throws
  {
    let scene = try ConformanceScene(subject, size: Self.size(subject))
    try scene.add()
    try scene.run()
    #expect(try scene.complaint() == nil)
    #expect(try scene.openSessions() == [])
    let abandonedSessions = try scene.look { try $0.abandonedSessions(RowFilter(), after: 0, limit: 10) }
    #expect(abandonedSessions == [])
  }

  /// An answer from which no upload can be made ends the file at once, with one line, and without a storm of requests.
  @Test(arguments: Subject.withSession, ["offset-past-end", "html", "bad-location=http://127.0.0.2:9/x"])
  func nonsenseOfAServerIsNoStorm(subject: Subject, fault: String) throws {
    let scene = try ConformanceScene(subject, size: Self.size(subject), script: "match * * : \(fault)\n")
    scene.maxAttempts = 4
    try scene.add()
    try scene.run()
    let states = try scene.states()
    // A page that came before the body of a POST says nothing about it, and the POST is not repeated.
    let mayBeUnknown = fault == "html" && (subject.mayBeUnknown || subject.name == "resumable")
    let isEnded = states.count == 1 && (states[0] == "done" || states[0].hasPrefix("failed"))
    #expect(isEnded || (mayBeUnknown && states[0].hasPrefix("unknown")), "\(states)")
    if states == ["done"] { #expect(try scene.kept() == scene.content) }
    #expect(try scene.requestCount <= 24)
    #expect(try scene.messages().allSatisfy { !$0.isEmpty && !$0.contains("\n") })
  }
}

extension ConformanceScene {
  /// The uploads that the receiver opened and that neither it nor we ended.
  func openSessions() throws -> Set<String> {
    var open: Set<String> = []
    for event in try record() {
      guard case .session(_, let id, let state) = event.kind else { continue }
      if state == .opened { open.insert(id) } else { open.remove(id) }
    }
    return open
  }
}
