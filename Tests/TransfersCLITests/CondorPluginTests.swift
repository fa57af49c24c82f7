import Glibc
import Testing
import TransferLedger
import TransferModel

@testable import TransferProtocols
@testable import Transfers
@testable import TransfersCLI

/// `transfers condor-plugin`, as HTCondor calls it.
@Suite struct CondorPluginTests {
  private let program: BuiltProgram
  private let scratch: String
  private let output: String

  init() throws {
    program = try BuiltProgram()
    scratch = program.folder.path + "/scratch"
    output = scratch + "/.plugin.out"
    #expect(mkdir(scratch, 0o700) == 0)
  }

  private static let blanks = [UInt8](repeating: 0x20, count: 4_096)

  private func arguments(_ files: [(name: String, url: String)], _ options: [String]) throws -> [String] {
    let ads = files.map {
      ClassAd([("Url", .string($0.url)), ("LocalFileName", .string("\(scratch)/\($0.name)"))]).newText
    }
    try writeFile(scratch + "/.plugin.in", ads.flatMap(\.self))
    try writeFile(output, Self.blanks)
    return ["condor-plugin", "-infile", scratch + "/.plugin.in", "-outfile", output] + options
  }

  private func run(_ files: [(String, String)], _ options: String...) throws -> (code: Int32, ads: [ClassAd]) {
    let outcome = try program.run(try arguments(files, options).map { Array($0.utf8) })
    return (outcome.code, try answers())
  }

  private func answers() throws -> [ClassAd] {
    let bytes = try readBytes(output)
    #expect(bytes.count >= Self.blanks.count)
    var reader = ClassAdReader(bytes)
    var ads: [ClassAd] = []
    while let ad = try reader.next() { ads.append(ad) }
    return ads
  }

  /// The attempts of the ledger in the scratch folder: `operation outcome`.
  private func attempts() throws -> [String] {
    let ledger = try Ledger.open(at: scratch + "/.transfers/condor.db", mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    return try ledger.read { reader in
      try reader.attempts(RowFilter(), after: 0, limit: 100).map { "\($0.operation) \($0.outcome)" }
    }
  }

  private func failure(_ ad: ClassAd) -> ClassAd? {
    guard case .list(let failures)? = ad["TransferErrorData"], case .ad(let failure)? = failures.first else {
      return nil
    }
    return failures.count == 1 ? failure : nil
  }

  /// The key in a bucket is taken literally from the URL, in either case of the scheme: no escapes and no templates.
  @Test(arguments: ["s3", "S3"]) func keysOfBucketsAreUsedAsTheyAre(_ scheme: String) throws {
    let targets = Lock<[String]>([])
    let server = try ScriptedServer { request in
      targets.withLock { $0.append(request.target) }
      return ScriptedServer.Reply(headers: [("ETag", "\"0123456789abcdef0123456789abcdef\"")])
    }
    try writeFile(scratch + "/a", [0x61])
    let words = try arguments([("a", "\(scheme)://bucket/in/out{1} 2.dat")], ["-upload"])
    let outcome = try program.run(
      words.map { Array($0.utf8) },
      environment: [
        "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL": server.url,
        "AWS_EC2_METADATA_DISABLED": "true",
      ])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(targets.withLock { $0 } == ["/bucket/in/out%7B1%7D%202.dat"])
  }

  /// HTCondor appends names to the URL of a folder without escaping them.
  @Test func namesThatLookLikeQueriesAreNames() throws {
    let targets = Lock<[String]>([])
    let server = try ScriptedServer { request in
      targets.withLock { $0.append(request.target) }
      return ScriptedServer.Reply(status: 201)
    }
    let names = ["b?1", "b?2", "c%41", "d#1"]
    for name in names { try writeFile(scratch + "/" + name, Array(name.utf8)) }
    let (code, ads) = try run(names.map { ($0, server.url + "/co/" + $0) }, "-upload")
    #expect(code == 0 && ads.allSatisfy { $0["TransferSuccess"] == .boolean(true) })
    #expect(ads.compactMap { $0.string("TransferUrl") } == names.map { NameBytes(server.url + "/co/" + $0) })
    let puts = targets.withLock { $0 }.filter { $0.hasPrefix("/co/") && $0 != "/co/" }
    #expect(Set(puts) == ["/co/b%3F1", "/co/b%3F2", "/co/c%2541", "/co/d%231"], "\(puts)")
  }

  /// The query of a signed URL remains a query.
  @Test func aSignedURLIsUsedAsItIs() {
    for (url, name) in [("http://h/co/b?sig=1%2F", "b"), ("http://h/co/a%20b", "a b"), ("http://h/x?1", "y?1")] {
      #expect(CondorFile.escapingName(NameBytes(url), NameBytes(name)) == NameBytes(url))
    }
    #expect(CondorFile.escapingName(NameBytes("http://h/co/b?1"), NameBytes("b?1")) == NameBytes("http://h/co/b%3F1"))
  }

  @Test func twoFilesOfOneFolderBySeveralNamesAreNotOne() throws {
    let server = try ScriptedServer { _ in ScriptedServer.Reply(body: "text") }
    #expect(mkdir(scratch + "/real", 0o700) == 0 && symlink("real", scratch + "/link") == 0)
    let (code, ads) = try run([("real/y", server.url + "/1"), ("link/y", server.url + "/2"), ("y", server.url + "/3")])
    #expect(code != 0)
    #expect(ads.map { $0["TransferSuccess"] } == [.boolean(true), .boolean(false), .boolean(true)])
    #expect(failure(ads[1])?.string("ErrorString").map { "\($0)".contains("same place") } == true, "\(ads[1])")
  }

  @Test func itSaysWhatItCanDo() throws {
    let said = try program.run("condor-plugin", "-classad")
    #expect(said.code == 0 && said.err.isEmpty)
    var reader = ClassAdReader(Array("[\(said.out.replacing("\n", with: ";"))]".utf8))
    let ad = try #require(try reader.next())
    #expect(
      ad.names == ["MultipleFileSupport", "PluginVersion", "PluginType", "ProtocolVersion", "SupportedMethods"])
    #expect(ad["MultipleFileSupport"] == .boolean(true) && ad["PluginType"] == .string("FileTransfer"))
    #expect(ad["ProtocolVersion"] == .integer(4))
    let methods = try #require(ad.string("SupportedMethods")?.utf8).split(separator: ",")
    #expect(Set(methods).isSuperset(of: ["http", "https", "s3", "dav+https"]) && Set(methods).count == methods.count)
    #expect(
      try program.run("condor-plugin", "-classad", "--protocol-version", "2").out.contains("ProtocolVersion = 2\n"))
  }

  @Test func filesGoBothWays() throws {
    let receiver = try RunningReceiver(in: program.folder)
    let names = ["plain", "with space", "new\nline", "quote\"", "{path}", "50%"]
    for name in names { try writeFile("\(scratch)/\(name)", Array("content of \(name)".utf8)) }
    let urls = ["plain", "with space", "new%0Aline", "quote%22", "{path}", "50%25"].map { "\(receiver.url)/in/\($0)" }
    let sent = try run(Array(zip(names, urls)) + [("plain", receiver.url + "/in/renamed")], "-upload")
    #expect(sent.code == 0, "\(sent.ads)")
    #expect(sent.ads.map { $0["TransferSuccess"] } == Array(repeating: .boolean(true), count: 7))
    #expect(sent.ads.map { $0.string("TransferUrl")?.utf8 } == urls + [receiver.url + "/in/renamed"])
    #expect(sent.ads[2].string("TransferFileName") == NameBytes("\(scratch)/new\nline"))
    #expect(sent.ads[0]["TransferFileBytes"] == .integer(16) && sent.ads[0]["TransferType"] == .string("upload"))
    for name in names { #expect(try readText("\(receiver.root)/in/\(name)") == "content of \(name)") }
    #expect(try readText(receiver.root + "/in/renamed") == "content of plain")
    // HTCondor treats new files as results of the job, but not new folders.
    #expect(Set(try self.names(in: scratch)) == Set(names + [".transfers", ".plugin.in", ".plugin.out"]))

    #expect(mkdir(scratch + "/back", 0o700) == 0)
    let fetched = try run([("back/one", urls[1]), ("plain", urls[4])])
    #expect(fetched.code == 0, "\(fetched.ads)")
    #expect(try readText(scratch + "/back/one") == "content of with space")
    #expect(try readText(scratch + "/plain") == "content of {path}")
    #expect(fetched.ads.map { $0["TransferType"] } == [.string("download"), .string("download")])
  }

  private func names(in folder: String) throws -> [String] { try TransfersCLITests.names(in: folder) }

  @Test func aFailureHasItsReason() throws {
    let receiver = try RunningReceiver(
      in: program.folder, script: "match PUT /in/busy : status=503 retry-after=3000\nmatch PUT /in/no : status=403\n")
    for name in ["busy", "no", "twice"] { try writeFile("\(scratch)/\(name)", [1, 2, 3]) }
    let url = receiver.url + "/in/"
    let sent = try run(
      [
        ("no", url + "no"), ("twice", url + "twice"), ("twice", url + "twice"), ("gone", url + "gone"),
        ("no", "gopher://h/x"), ("no", "https://user:secret@h/x"), (".", url + "folder"),
      ], "-upload")
    #expect(sent.code == 1)
    #expect(
      sent.ads.map { $0["TransferSuccess"] } == [false, true, false, false, false, false, false].map { .boolean($0) })
    #expect(sent.ads.map { $0["TransferError"] != nil } == [true, false, true, true, true, true, true])
    let refused = try #require(failure(sent.ads[0]))
    #expect(refused["ErrorType"] == .string("Authorization") && refused["ErrorCode"] == .integer(403))
    #expect(refused["Retryable"] == .integer(-1) && refused["ShouldRefresh"] == .boolean(false))
    let kinds = sent.ads.map { failure($0)?["ErrorType"] }
    #expect(kinds[2...].allSatisfy { $0 == .string("Parameter") }, "\(kinds)")
    #expect(
      !(try readText(output)).split(separator: "TransferError =").dropFirst().contains {
        $0.prefix(200).contains("secret")
      })

    // Only a temporary failure: another call may succeed after the time that the server named.
    let busy = try run([("busy", url + "busy")], "-upload")
    #expect(busy.code == 11)
    guard case .integer(let seconds)? = failure(busy.ads[0])?["Retryable"] else {
      Issue.record("no integer in Retryable: \(busy.ads)")
      return
    }
    #expect((2_900...3_000).contains(seconds))
    let missing = try run([("here", url + "missing"), ("there", url + "twice")])
    #expect(missing.code == 1 && missing.ads[1]["TransferSuccess"] == .boolean(true), "\(missing.ads)")
    #expect(failure(missing.ads[0])?["ErrorType"] == .string("Specification"))
  }

  /// A repeated call resumes: what has arrived is not sent again.
  @Test func aCallThatWasKilledIsContinued() throws {
    let receiver = try RunningReceiver(in: program.folder, script: "match PUT /in/b nth=1 : hold=late\n")
    for name in ["a", "b"] { try writeFile("\(scratch)/\(name)", Array("content of \(name)".utf8)) }
    let files = ["a", "b"].map { (name: $0, url: "\(receiver.url)/in/\($0)") }
    let running = try program.start(try arguments(files, ["-upload", "--workers", "1"]))
    try receiver.waitUntilHeld("late")
    running.signal(SIGKILL)
    #expect(try running.wait().signal == SIGKILL)
    #expect(try readBytes(output) == Self.blanks)
    try receiver.release("late")
    let before = try attempts().count { $0.hasSuffix(" ok") }
    let again = try run(files, "-upload")
    #expect(again.code == 0, "\(again.ads)")
    #expect(again.ads.map { $0["TransferSuccess"] } == [.boolean(true), .boolean(true)])
    for name in ["a", "b"] { #expect(try readText("\(receiver.root)/in/\(name)") == "content of \(name)") }
    #expect(try attempts().contains { $0.hasSuffix(" crashed") })
    #expect(try attempts().count { $0.hasPrefix("part ok") || $0.hasPrefix("create ok") } <= before + 2)

    // Everything is sent: a third call sends no requests and returns the same answer.
    let count = try attempts().count
    #expect(try run(files, "-upload").ads.map { $0["TransferSuccess"] } == [.boolean(true), .boolean(true)])
    #expect(try attempts().count == count)
  }

  @Test func theOutputIsNeverMadeShorter() throws {
    let receiver = try RunningReceiver(in: program.folder)
    try writeFile(scratch + "/a", [1])
    let arguments = try arguments([("a", receiver.url + "/in/a")], ["-upload"])
    let other = Array("[ TransferSuccess = true; TransferUrl = \"x://y\" ]\n[ TransferSucc".utf8)
    try writeFile(output, other + Self.blanks)
    #expect(try program.run(arguments.map { Array($0.utf8) }).code == 0)
    let bytes = try readBytes(output)
    #expect(bytes.count == other.count + Self.blanks.count && bytes.starts(with: other.prefix(50)))
    #expect(try answers().map { $0["TransferSuccess"] } == [.boolean(true), .boolean(true)])
  }

  /// The file of somebody else, named by mistake: nothing is moved, and no byte of it changes.
  @Test(arguments: [
    "junk that is mine\n", "[ TransferSuccess = true ]\nnot an ad\n", " \n// a remark\n", "[section]\nkey=1\n",
    "[1, 2]\n",
  ])
  func anOutputWithOtherTextIsLeftAlone(_ text: String) throws {
    let receiver = try RunningReceiver(in: program.folder)
    try writeFile(scratch + "/a", [1])
    let arguments = try arguments([("a", receiver.url + "/in/a")], ["-upload"])
    try writeFile(output, Array(text.utf8))
    let outcome = try program.run(arguments.map { Array($0.utf8) })
    #expect(outcome.code == 1 && outcome.err.contains("text that is not a ClassAd"), "\(outcome.err)")
    #expect(try readText(output) == text)
    #expect(access(receiver.root + "/in/a", F_OK) != 0)
  }

  /// A source that is not there under another name at the destination, and a scheme that is not known.
  @Test func whatCannotBeMovedIsInTheLedger() throws {
    try writeFile(scratch + "/a", [1])
    let (code, ads) = try run([("gone", "http://127.0.0.1:9/other"), ("a", "zz://h/a?token=secret")], "-upload")
    #expect(code == 1 && ads.map { $0["TransferSuccess"] } == [.boolean(false), .boolean(false)])
    let listed = try program.run(
      "store", "sql", "--store", scratch + "/.transfers/condor.db", "--format", "csv",
      "SELECT detail FROM v_events WHERE verb = 'refused' ORDER BY id")
    let details = listed.out.split(whereSeparator: \.isNewline).dropFirst()
    #expect(details.count == 2, "\(listed.out)\(listed.err)")
    #expect(details.first?.contains("gone") == true && details.last?.contains("its scheme is unknown") == true)
    #expect(!listed.out.contains("secret"))
  }

  @Test func anInputThatIsWrongIsAnswered() throws {
    try writeFile(scratch + "/.plugin.in", Array("[ Url = \"https://h/x\"; LocalFileName = \"x\" ]\n[ Url = \"".utf8))
    try writeFile(output, Self.blanks)
    let outcome = try program.run("condor-plugin", "-infile", scratch + "/.plugin.in", "-outfile", output)
    #expect(outcome.code == 1 && outcome.err.contains("line 2: a string has no end"), "\(outcome.err)")
    let ads = try answers()
    #expect(ads.count == 1 && ads[0]["TransferSuccess"] == .boolean(false))
    #expect(failure(try #require(ads.first))?["PluginLaunched"] == .boolean(true))
    for wrong in [[], ["-classad", "-infile", "x"], ["-infile", "x"], ["-classad", "--json"]] {
      #expect(try program.run((["condor-plugin"] + wrong).map { Array($0.utf8) }).code == 64)
    }
  }

  /// If the ledger cannot be created, HTCondor still gets a failure for every file.
  @Test func aLedgerThatCannotBeMadeIsAnswered() throws {
    try writeFile(scratch + "/a", [1])
    try writeFile(scratch + "/.transfers", [])
    let urls = ["a", "b"].map { "http://127.0.0.1:9/\($0)" }
    let sent = try run([("a", urls[0]), ("a", urls[1])], "-upload")
    #expect(sent.code == 1 && sent.ads.map { $0.string("TransferUrl")?.utf8 } == urls)
    #expect(sent.ads.allSatisfy { $0["TransferSuccess"] == .boolean(false) && failure($0) != nil })
  }
}
