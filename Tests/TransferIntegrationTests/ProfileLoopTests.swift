import Receiver
import Testing
import TransferLedger
import TransferModel
import TransferProtocols
import Transfers

/// Profiles with the shipped engine: servers that are never satisfied, and tokens that expire while chunks are in
/// flight.
@Suite struct ProfileLoopTests {
  /// The file fails in the end; returns the number of its requests.
  private func ends(_ subject: ConformanceSubject, _ script: String) throws -> Int {
    let scene = try ConformanceScene(subject, size: 3 * subject.chunkSize + 5, script: script)
    try scene.add()
    for _ in 0..<3 {
      try scene.run()
      scene.wait(hours: 1)
    }
    let (states, messages) = (try scene.states(), try scene.messages())
    #expect(states.count == 1 && states[0].hasPrefix("failed"), "\(states) \(messages)")
    return try scene.requestCount
  }

  @Test(arguments: ["numbered-chunks", "flow", "dropzone", "resumablejs", "qiniu-v2"])
  func aLaterChunkThatIsNeverFoundIsNotSentForEver(_ name: String) throws {
    let subject = try ConformanceSubject.named("profile \(name)")
    let count = try ends(subject, "match \(subject.dataMethod) \(subject.dataPath) every=3 : status=404\n")
    #expect(count <= 40)
  }

  @Test(arguments: ["numbered-chunks", "numbered-chunks-form", "dropzone"])
  func aMergeThatIsNeverFoundIsNotAskedForEver(_ name: String) throws {
    let count = try ends(try ConformanceSubject.named("profile \(name)"), "match POST *merge* : status=404\n")
    #expect(count <= 24)
  }

  @Test(arguments: ["google", "graph"]) func aServerThatFallsBackEachTimeIsNotFollowedForEver(_ name: String) throws {
    let count = try ends(try ConformanceSubject.named("profile \(name)"), "match PUT * every=2 : wrong-offset=200000\n")
    #expect(count <= 60)
  }

  // MARK: - Tokens

  private static let refreshing = """
    profile: 1
    name: refreshing
    chunk: {mode: parallel, parallel: 4, size: 64KiB}
    auth:
      headers: {"Authorization?": "{{secret.token | default('')}}"}
      refresh:
        method: POST
        url: /-/blocks/init
        auth: off
        body: {kind: json, value: {fileName: a, totFileSize: 1, suffix: b}}
        extract: {secret.token: {json: PATH, required: true}}
    steps: {chunk: {method: PUT, url: "/up/{{uuid}}.{{chunk.number}}", body: {kind: raw}}}
    ERRORS
    """

  private func scene(_ script: String, path: String = "$.data.upToken", errors: String = "") throws -> ConformanceScene
  {
    let text = Self.refreshing.replacing("PATH", with: path).replacing("ERRORS", with: errors)
    let profile = try Profile.read(Array(text.utf8), file: "refreshing")
    let subject = ConformanceSubject(
      name: "refreshing", path: "", keptIn: "", dataMethod: "PUT",
      adjust: { $0.profile = ProfileSettings(name: "refreshing", text: profile.text) })
    return try ConformanceScene(subject, size: 3 * subject.chunkSize + 5, script: script)
  }

  private func refreshes(_ scene: ConformanceScene) throws -> Int {
    try scene.record().filter { event in
      if case .start(let method, _) = event.kind { method == "POST" } else { false }
    }.count
  }

  /// The second profile has a rule that remembers statuses, which is noted with every interpretation.
  @Test(arguments: ["", "errors: [{if: {status: 409, seen: [409]}, do: fail}]"])
  func aTokenThatExpiresUnderSeveralChunksIsFetchedOnce(_ errors: String) throws {
    let scene = try scene("match PUT /up/* nth=1 times=4 : hold=chunks status=401\n", errors: errors)
    try scene.add()
    let server = scene.scene.server
    let person = scene.scene.whenHeld("chunks", count: 4) { server.release("chunks") }
    try scene.run()
    person.join()
    let messages = try scene.messages()
    #expect(try scene.states() == ["done"], "\(messages)")
    #expect(try refreshes(scene) == 1)
  }

  @Test func aTokenThatIsRefusedAlsoWhenItIsNewIsTheEnd() throws {
    let scene = try scene("match PUT /up/* : status=401\n")
    try scene.add()
    try scene.run()
    #expect(try scene.states() == ["pending auth.refused"], "it waits for other credentials")
    #expect(try refreshes(scene) == 1)
  }

  @Test func anAnswerThatBringsATokenIsNotKept() throws {
    let scene = try scene("match PUT /up/* : status=401\n", path: "$.data.nothing")
    scene.maxAttempts = 2
    try scene.add()
    for _ in 0..<3 {
      try scene.run()
      scene.wait(hours: 1)
    }
    #expect(try scene.states().first?.hasPrefix("failed") == true)
    let kept = try scene.withLedger { ledger in
      try ledger.read { reader in
        try reader.attempts(RowFilter(), after: 0, limit: 100).filter { $0.operation == "probe" }.map(\.message)
      }
    }
    #expect(!kept.isEmpty && kept.allSatisfy { $0?.contains("the answer has no $.data.nothing") == true })
    #expect(try scene.excerptCount("probe") == 0)
    #expect(try scene.excerptCount("part") > 0, "the excerpts belong to these attempts")
  }
}

extension ConformanceScene {
  /// The number of answers to requests of one kind of which an excerpt was kept.
  fileprivate func excerptCount(_ operation: String) throws -> Int {
    try withLedger { ledger in
      try ledger.read { reader in
        var count = 0
        let sql = "SELECT id FROM attempt WHERE operation = '\(operation)' AND reply_excerpt IS NOT NULL"
        try reader.query(sql, within: SQLBudget(timeMs: nil), columns: { _ in }) { _ in
          count += 1
          return true
        }
        return count
      }
    }
  }
}
