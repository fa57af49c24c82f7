import Glibc
import Testing
import TransferModel

/// `pull --zsync` with the real program, the bundled server and a file that zsyncmake 0.6.2 made.
@Suite struct ZsyncCommandTests {
  private let program: BuiltProgram
  private let receiver: RunningReceiver
  private var folder: String { program.folder.path }
  private var local: String { folder + "/in/o" }

  init() throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder, script: "match GET /up/o nth=4 : hold=middle\n")
    for name in ["in", "objects/up"] { mkdir("\(program.folder.path)/\(name)", 0o700) }
  }

  /// 60,000 bytes of a linear congruential generator.
  private static let content: [UInt8] = {
    var state: UInt32 = 1
    return (0..<60_000).map { _ in
      state = (state &* 1_103_515_245 &+ 12_345) & 0x7FFF_FFFF
      return UInt8(truncatingIfNeeded: state >> 16)
    }
  }()

  private static let zsync = """
    enN5bmM6IDAuNi4yCkZpbGVuYW1lOiBvCk1UaW1lOiBUaHUsIDI2IE5vdiAyMDI2IDE1OjA3OjAxICswMDAwCkJsb2Nrc2l6ZTog
    MTAyNApMZW5ndGg6IDYwMDAwCkhhc2gtTGVuZ3RoczogMiwyLDQKVVJMOiBvClNIQS0xOiBjMWE3ZWUxYTdjZWQyYzhlZWJlY2Fj
    MzFlZmU3Mzc4ZDBhZDIyMTdkCgrmM0iKsRuKNFCr0V5ccgXGg89szFpigxv3QQ3NrIbxYqq1wHPiK03lKKMe1FJUnWRLYACYA/8d
    XSdXli88mtSSmL/2xlJTZoYN64/jwquXJTsA4PGR8yG+wk9FdK4ZkB0mmSA+misMluDOlabqgiHXOnFpn6N2r7Dn6EURMnG4K4By
    +HeLRdc3YQdNKk92qL2rFZg+Of1uArg4cGK0uVEtQb0jO0jLoGDUdCtxVhf9MCxHhU4OZEqWjBiysiioKJd98JYUNfhJnHMzyIRQ
    oSZLS8VKN2zyUHJJUW5FxmTkNdhU80D0l5CiB9zmJ8PCv4Sn1aJIaA+uLgPe9mCoRVxUZ42dME8hpcCmAUYn87iFVt3vjMGk4dJx
    q6gHdVRJxdqhb97hB40HsHGJORFvv9gagxatV5ys0xCYKHjD128oVaxrmyP7J2eXtOjFmQBSqAyaKMAECLMzIls02eymcgngiiA=
    """

  /// An earlier version, with other bytes at three places.
  private static let earlier: [UInt8] = {
    var bytes = content
    for at in [20_000, 35_000, 50_000] { for n in at..<at + 100 { bytes[n] ^= 0xFF } }
    return bytes
  }()

  private func put(_ bytes: [UInt8], as name: String, secondsAgo: Int) throws {
    let path = "\(folder)/objects/up/\(name)"
    try writeFile(path, bytes)
    let then = timeval(tv_sec: time(nil) - secondsAgo, tv_usec: 0)
    var times = [then, then]
    #expect(utimes(path, &times) == 0)
  }

  private func transfers(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((words + ["--store", folder + "/l.db"]).map { Array($0.utf8) })
  }

  private var arguments: [String] {
    ["pull", receiver.url + "/up/o", folder + "/in", "--overwrite", "--zsync", "--store", folder + "/l.db"]
  }

  /// The earlier version was fetched, and the server has the next one.
  private func prepare(zsync: [UInt8]?) throws {
    try put(Self.earlier, as: "o", secondsAgo: 7_200)
    #expect(try transfers("pull", receiver.url + "/up/o", folder + "/in").code == 0)
    try put(Self.content, as: "o", secondsAgo: 3_600)
    if let zsync { try put(zsync, as: "o.zsync", secondsAgo: 3_600) }
  }

  private var published: [UInt8] { bytesFromBase64(Self.zsync.filter { !$0.isNewline }) ?? [] }

  private func rows(_ sql: String) throws -> [String] {
    try transfers("store", "sql", sql, "--format", "csv").out.split(whereSeparator: \.isNewline).dropFirst().map(
      String.init)
  }

  private func expectWhole() throws {
    #expect(try readBytes(local) == Self.content)
    #expect(try names(in: folder + "/in") == ["o"])
    #expect(try transfers("store", "check").code == 0)
  }

  @Test func whatTheExistingFileHasIsNotFetched() throws {
    try prepare(zsync: published)
    try receiver.release("middle")
    let outcome = try program.run(arguments.map { Array($0.utf8) })
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    // The first answer, and three ranges of one or two blocks.
    let transferred = try rows("SELECT bytes_transferred FROM v_files WHERE id = 2").first.flatMap { Int($0) } ?? 0
    #expect(transferred > 4_096 && transferred <= 4_096 + 6 * 1_024, "\(transferred)")
    #expect(outcome.out.contains("already existed locally"), "\(outcome.out)")
    let shown = try transfers("show", "f2", "--json").out
    #expect(shown.contains("\"bytes_reused\":\(60_000 - transferred)"), "\(shown)")
    #expect(shown.contains("sha1:"), "\(shown)")
  }

  /// Killed while the second of three ranges is requested: the next run fetches the second and the third.
  @Test func aKilledRunIsContinued() throws {
    try prepare(zsync: published)
    let running = try program.start(arguments)
    try receiver.waitUntilHeld("middle")
    running.signal(SIGKILL)
    _ = try running.wait()
    #expect(try readBytes(local) == Self.earlier)
    try receiver.release("middle")
    let before = try rows("SELECT sum(bytes_transferred) FROM v_attempts WHERE file_id = 2").first.flatMap { Int($0) }
    let outcome = try transfers("run")
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole()
    let all = try rows("SELECT sum(bytes_transferred) FROM v_attempts WHERE file_id = 2").first.flatMap { Int($0) }
    #expect((all ?? 0) - (before ?? 0) <= 4 * 1_024, "\(all ?? 0) - \(before ?? 0)")
    #expect(try rows("SELECT count(*) FROM v_attempts WHERE operation = 'probe'") == ["1"])
  }

  @Test func aMissingFileIsTold() throws {
    try prepare(zsync: nil)
    try receiver.release("middle")
    let outcome = try program.run(arguments.map { Array($0.utf8) })
    #expect(outcome.code == 0 && outcome.err.contains("in/o: its .zsync is not used, and all of it is fetched: "))
    #expect(outcome.err.contains("the server has none"), "\(outcome.err)")
    try expectWhole()
  }

  @Test func itIsForFilesThatAreReplaced() throws {
    let url = receiver.url + "/up/o"
    for (more, why) in [([], "add --overwrite"), (["--overwrite", "--url-command", "true"], "exclude each other")] {
      let outcome = try program.run((["pull", url, folder + "/in", "--zsync"] + more).map { Array($0.utf8) })
      #expect(outcome.code == 64 && outcome.err.contains(why), "\(outcome.code) \(outcome.err)")
    }
    let stream = try transfers("pull", url, "-", "--zsync", "--overwrite")
    #expect(stream.code == 64, "\(stream.err)")
  }
}
