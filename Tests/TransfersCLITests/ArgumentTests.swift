import Glibc
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

@Suite struct ArgumentTests {
  /// As in a chroot, where a command without arguments would print the help and succeed.
  @Test(.enabled(if: geteuid() == 0)) func argumentsAreKnownWithoutProc() throws {
    var program = try BuiltProgram()
    program.hasProc = false
    let outcome = try program.run("status", "--store", program.folder.path + "/none.db")
    #expect(outcome.code == 7 && outcome.err.contains("store.missing"), "\(outcome.out)\(outcome.err)")
  }

  @Test(arguments: [
    ("4096", 4096), ("20M", 20 << 20), ("20MiB", 20 << 20), ("20MB", 20_000_000), ("1.5K", 1536), ("1.5KB", 1500),
    ("64k", 65_536), ("0.1K", 102), ("8191P", 8191 << 50), ("7B", 7), ("1Gi", 1 << 30),
  ])
  func sizes(_ text: String, _ bytes: Int64) { #expect(ByteQuantity(text: text)?.bytes == bytes) }

  @Test(arguments: [
    "", "M", "-1", "1.", ".5", "1.2.3", "20Mb", "20Mbit", "1e6", "20 M", "8192P", "9999999999999P", "١",
  ])
  func noSizes(_ text: String) { #expect(ByteQuantity(text: text) == nil) }

  @Test func rates() {
    #expect(ByteRate(argument: "20M")?.bytesPerSecond == 20 << 20)
    #expect(ByteRate(argument: "1.5MiB/s")?.bytesPerSecond == 1_572_864)
    #expect(ByteRate(argument: "0") == nil)
    #expect(ByteRate(argument: "/s") == nil)
    #expect(ByteRate(argument: "1M/m") == nil)
  }

  @Test func ratesByTheTimeOfDay() throws {
    func rates(_ text: String, _ minutes: [Int]) throws -> [Int64?] {
      let table = try #require(RunRateSetting(argument: text)).timetable
      return minutes.map { table.bytesPerSecond(atMinuteOfWeek: $0) }
    }
    let day = RateTimetable.minutesOfDay
    #expect(try rates("20M", [0, 5_000]) == [20 << 20, 20 << 20])
    #expect(
      try rates("08:00,5M 18:00,off", [479, 480, 1_079, 1_080, day + 479, day + 480]).map { $0 ?? 0 }
        == [0, 5 << 20, 5 << 20, 0, 0, 5 << 20])
    #expect(
      try rates("Mon-08:00,1MB/s Fri-23:59,off", [0, day + 480, 5 * day, 6 * day - 1]).map { $0 ?? 0 }
        == [0, 1_000_000, 1_000_000, 0])
    let wrong = [
      "08:00", "08:00,", "08:00,0", "24:00,1M", "8:00,1M", "08:60,1M", "08:00,1M 08:00,2M", "Mo-08:00,1M",
      "08:00,1M,2M",
      "-08:00,1M", "Mon-Tue-08:00,1M", "08:00 1M", " ", "off",
    ]
    for text in wrong { #expect(RunRateSetting(argument: text) == nil, "\(text)") }
  }

  @Test(arguments: [("b12", "b12"), ("f3-f5", "f3-f5"), ("c9", "c9"), ("a7-a7", "a7")])
  func ids(_ text: String, _ same: String) { #expect(RowSelector(text: text)?.text == same) }

  @Test(arguments: [
    "", "b", "b0", "b-1", "12", "x1", "b1-f2", "b5-b3", "b1-b2-b3", "b1-", "b+1", "b99999999999999999999",
  ])
  func noIDs(_ text: String) { #expect(RowSelector(text: text) == nil) }

  @Test func everyByteOfAnArgumentSurvives() {
    let names: [[UInt8]] = [
      Array("plain/日本".utf8), [0xFF], [0x61, 0xC3, 0x28], Array(0x80...0xFF), [0xF4, 0x8F, 0x41, 0x42],
      Array("\u{10FF80}\u{10FFFF}\u{10FF7F}".utf8), [], [0xED, 0xA0, 0x80], [0xE2, 0x82],
    ]
    for name in names { #expect(EscapedArgument.decode(EscapedArgument.encode(name)) == name) }
  }

  @Test func randomBytesSurviveToo() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let name = (0..<Int.random(in: 0..<12)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(EscapedArgument.decode(EscapedArgument.encode(name)) == name, "\(name)")
    }
  }

  @Test func rulesKeepTheirOrder() throws {
    let arguments = [
      "push", "--include", "a", "--rate=1M", "--exclude=b", "x", "--include=--exclude", "--", "--include", "no",
    ]
    #expect(
      try OrderedRules.read(arguments) == [
        PathRule(kind: .include, pattern: "a"), PathRule(kind: .exclude, pattern: "b"),
        PathRule(kind: .include, pattern: "--exclude"),
      ])
  }

  @Test func aRuleThatIsNotTextIsRefused() {
    #expect(throws: CommandFailure.self) { try OrderedRules.read(["--include", EscapedArgument.encode([0xFF])]) }
  }

  @Test(arguments: [
    (["TRANSFERS_STORE": "/a.db", "HOME": "/h"], "/a.db"),
    (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/transfers/transfers.db"),
    (["XDG_STATE_HOME": "s", "HOME": "/h"], "/h/.local/state/transfers/transfers.db"),
    (["TRANSFERS_STORE": "", "HOME": "/h"], "/h/.local/state/transfers/transfers.db"),
  ])
  func whereTheLedgerIs(_ environment: [String: String], _ path: String) throws {
    #expect(try StoreLocation.path(option: nil, environment: environment) == path)
    #expect(try StoreLocation.path(option: "x.db", environment: environment) == "x.db")
  }

  @Test func withoutAHomeThereIsNoLedger() {
    #expect(throws: CommandFailure.self) { try StoreLocation.path(option: nil, environment: [:]) }
  }

  @Test(arguments: [
    ("https://u:p@h/x?sig=abc", "https://h/x?(hidden)"), ("--endpoint-url=http://k@h:9/", "--endpoint-url=http://h:9/"),
    ("s3://b/k@2x.png", "s3://b/k@2x.png"), ("dir/a@b", "dir/a@b"), ("https://h/#tok", "https://h/#(hidden)"),
  ])
  func secretsInURLsAreNotRecorded(_ argument: String, _ masked: String) {
    #expect(RecordedArguments.masked([argument]) == [masked])
  }
}
