import Glibc
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

/// The output of a run on standard error, on a terminal and in a log.
@Suite struct ProgressReporterTests {
  private func snapshot(_ elapsedMs: Int64, done: Int = 1) -> ProgressSnapshot {
    var now = ProgressSnapshot()
    (now.filesTotal, now.filesDone, now.active, now.elapsedMs) = (10, done, 1, elapsedMs)
    (now.bytesTotal, now.bytesAcked) = (1000, Int64(done * 100))
    now.files = [
      FileProgress(
        id: FileID(rawValue: 7), path: NameBytes("/a\u{1B}[2Jb\n"), bytesTotal: 500, bytesAcked: 100, phase: .sending)
    ]
    return now
  }

  private func reporter(_ channel: Channel, _ mode: ProgressLook.Mode, isQuiet: Bool = false) -> ProgressReporter {
    ProgressReporter(OutputStream(descriptor: channel.writing), ProgressLook(mode: mode, isQuiet: isQuiet))
  }

  private let usual = ProgressLook.Mode.lines(firstMs: 10_000, everyMs: 30_000)

  @Test func aLogGetsNothingForTenSecondsAndThenALineEveryThirty() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, usual)
    for second in 0...75 { reporter.progress(snapshot(Int64(second) * 1000)) }
    reporter.finish()
    let lines = pipe.text().split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.hasPrefix("1 of 10 files") })
  }

  @Test func theTimesOfLinesCanBeChosen() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, ProgressLook.mode(.plain(everyMs: 5_000), isTerminal: true, "xterm"))
    for second in 0...21 { reporter.progress(snapshot(Int64(second) * 1000)) }
    #expect(pipe.text().split(separator: "\n").count == 4)
  }

  @Test func aBlockIsRewrittenInOneGoAtMostTenTimesASecond() throws {
    let terminal = try Channel.terminal(columns: 80)
    let reporter = reporter(terminal, .block)
    for step in 0..<20 { reporter.progress(snapshot(Int64(step) * 20, done: step / 3)) }
    let text = terminal.text()
    #expect(text.ranges(of: "\u{1B}[3A").count == 3, "the first frame has no lines to move up over")
    #expect(text.ranges(of: "1 of 10 files active").count == 4)
  }

  @Test func anUnchangedBlockIsNotWrittenAgain() throws {
    let terminal = try Channel.terminal(columns: 80)
    let reporter = reporter(terminal, .block)
    reporter.progress(snapshot(0))
    reporter.progress(snapshot(200))
    _ = terminal.text()
    reporter.progress(snapshot(400))
    #expect(terminal.text() == "")
  }

  @Test func theWidthIsAskedForEachFrame() throws {
    let terminal = try Channel.terminal(columns: 100)
    let reporter = reporter(terminal, .block)
    reporter.progress(snapshot(0))
    #expect(terminal.text().contains("1 of 10 files active"))
    try terminal.resize(columns: 40)
    reporter.progress(snapshot(200, done: 2))
    let frame = terminal.text()
    #expect(
      frame.hasPrefix("\r\u{1B}[8A"),
      "three lines of up to 99 columns have become eight of 40: \(frame.debugDescription)")
    #expect(!frame.contains("active"))
  }

  @Test func aTerminalThatDoesNotKnowItsWidthHasWhatTheEnvironmentSays() throws {
    let terminal = try Channel.terminal(columns: 0)
    #expect(OutputStream(descriptor: terminal.writing).columns == 80)
    var look = ProgressLook(mode: .block)
    look.columns = 50
    let reporter = ProgressReporter(OutputStream(descriptor: terminal.writing), look)
    reporter.progress(snapshot(0))
    #expect(!terminal.text().contains("active"), "too narrow for more than the total")
    let wide = try Channel.terminal(columns: 133)
    #expect(OutputStream(descriptor: wide.writing).columns == 133)
    #expect(OutputStream(descriptor: try Channel.pipe().writing).columns == nil)
  }

  @Test func messagesGoAboveTheBlockAndNothingOfItIsLeft() throws {
    let terminal = try Channel.terminal(columns: 80)
    let reporter = reporter(terminal, .block)
    reporter.progress(snapshot(0))
    _ = terminal.text()
    reporter.notice(.failed(path: NameBytes("/a\n\u{1B}b"), Failure(.http413, "too\nlarge")))
    let text = terminal.text()
    #expect(text.hasPrefix("\r\u{1B}[3A\u{1B}[Jfailed /a\\x0a\\x1bb: http.413: too\\x0alarge\r\n"))
    #expect(text.contains("/a\\x1b[2Jb\\x0a"))
    reporter.finish()
    #expect(terminal.text() == "\r\u{1B}[3A\u{1B}[?7l\u{1B}[J\u{1B}[?7h")
  }

  @Test func afterAStopTheBlockBeginsAnew() throws {
    let terminal = try Channel.terminal(columns: 80)
    let reporter = reporter(terminal, .block)
    reporter.progress(snapshot(0))
    reporter.resumed()
    _ = terminal.text()
    reporter.progress(snapshot(200))
    let text = terminal.text()
    #expect(!text.contains("\u{1B}[3A"))
    #expect(text.contains("active"))
  }

  @Test func aRetryIsToldOncePerReason() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, usual)
    for code in [ErrorCode.netReset, .netReset, .http503, .netReset] {
      reporter.notice(.retrying(path: NameBytes("/a"), Failure(code, "x"), inMs: 10))
    }
    #expect(pipe.text().split(separator: "\n").count == 2)
  }

  @Test func aThousandFailuresAreTwentyLinesAndTheirCount() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, usual)
    for n in 0..<1_000 {
      let failure = Failure(.http403, "no")
      reporter.notice(
        n % 2 == 0 ? .failed(path: NameBytes("/\(n)"), failure) : .unknown(path: NameBytes("/\(n)"), failure))
    }
    reporter.notice(.skipped(path: NameBytes("/fifo"), reason: "a FIFO is not sent"))
    reporter.notice(.circuitClosed(host: "a:80"))
    reporter.finish()
    reporter.finish()
    let lines = pipe.text().split(separator: "\n").map(String.init)
    #expect(lines.count == 23, "\(lines.suffix(4))")
    #expect(
      lines.suffix(3) == [
        "further messages are not shown", "a:80 answers again: circuit closed",
        "not shown: 490 failed, 490 unknown, 1 skipped; \"transfers list files --state failed,unknown\" lists them",
      ])
  }

  @Test func hostsThatCloseAndOpenAreToldAtOnce() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, usual)
    reporter.notice(.circuitOpened(host: "a\u{1B}b:80", forMs: 15_000))
    reporter.notice(.circuitClosed(host: "a:80"))
    #expect(
      pipe.text()
        == "a\\x1bb:80 refuses connections; pausing: circuit open, next try in 15.0 s\na:80 answers again: circuit closed\n"
    )
  }

  @Test func quietKeepsOnlyWhatMustBeKnown() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, .silent, isQuiet: true)
    reporter.status()
    reporter.progress(snapshot(60_000))
    reporter.notice(.skipped(path: NameBytes("/fifo"), reason: "not a regular file"))
    reporter.stopAsked(by: SIGINT)
    reporter.notice(.draining(requests: 4))
    reporter.notice(.draining(requests: 0))
    reporter.status()
    #expect(
      pipe.text() == """
        nothing is being sent yet
        draining 4 requests – Ctrl-C again stops now; nothing is lost, "transfers run" continues
        stopping – Ctrl-C again stops now; nothing is lost, "transfers run" continues
        1 of 10 files  100 / 1000 B  10%  - B/s  ETA -

        """)
  }

  @Test func recordsAreJSONAndTheLastOneIsNeverMissing() throws {
    let pipe = try Channel.pipe()
    let reporter = reporter(pipe, .records(everyMs: 10_000))
    for second in 0...12 { reporter.progress(snapshot(Int64(second) * 1000)) }
    reporter.notice(.skipped(path: NameBytes("/x\""), reason: "a folder"))
    reporter.finish()
    reporter.finish()
    let lines = pipe.text().split(separator: "\n").map(String.init)
    #expect(lines.count == 3)
    #expect(lines[0].contains("\"elapsed_ms\":10000") && lines[2].contains("\"elapsed_ms\":12000"))
    #expect(lines[0].contains("\"path\":\"/a\\u001b[2Jb\\n\"") && lines[0].contains("\"type\":\"progress\""))
    #expect(lines[1].contains("\"text\":\"skipped /x\\\": a folder\"") && lines[1].contains("\"type\":\"notice\""))
  }

  /// After Ctrl-S, or if the reader does not read, transfers continue, and the missed output is written later.
  @Test func aFullPipeHoldsUpNobody() throws {
    let pipe = try Channel.pipe()
    _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
    let filler = [UInt8](repeating: 0x2E, count: 4096)
    while write(pipe.writing, filler, filler.count) > 0 {}
    _ = fcntl(pipe.writing, F_SETFL, 0)
    let reporter = reporter(pipe, usual)
    reporter.say("one")
    reporter.progress(snapshot(10_000))
    reporter.say("two")
    _ = pipe.text()
    reporter.progress(snapshot(11_000))
    reporter.progress(snapshot(12_000))
    #expect(pipe.text().split(separator: "\n").map { $0.prefix(3) } == ["one", "1 o", "two"])
  }

  /// If nobody reads the terminal, a frame is written as far as possible, and no further frame is begun.
  @Test func aTerminalThatTakesNothingHoldsUpNobody() throws {
    let terminal = try Channel.terminal(columns: 80)
    let reporter = reporter(terminal, .block)
    for step in 0..<3_000 { reporter.progress(snapshot(Int64(step) * 100, done: step)) }
    var screen = terminal.text()
    reporter.progress(snapshot(400_000, done: 5))
    screen += terminal.text()
    #expect(!screen.contains("2999 done"))
    reporter.progress(snapshot(500_000, done: 7))
    screen += terminal.text()
    #expect(screen.contains("7 done"))
    #expect(screen.ranges(of: "\u{1B}[?7l").count == screen.ranges(of: "\u{1B}[?7h").count)
  }

  @Test(arguments: [
    (ProgressChoice.auto, true, "xterm", ProgressLook.Mode.block),
    (.auto, true, "dumb", .lines(firstMs: 10_000, everyMs: 30_000)),
    (.auto, false, "xterm", .lines(firstMs: 10_000, everyMs: 30_000)), (.tty, false, "dumb", .block),
    (.json, true, "xterm", .records(everyMs: 1_000)), (.json, false, "xterm", .records(everyMs: 10_000)),
    (.none, true, "xterm", .silent),
  ])
  func modes(_ choice: ProgressChoice, _ isTerminal: Bool, _ term: String, _ mode: ProgressLook.Mode) {
    #expect(ProgressLook.mode(choice, isTerminal: isTerminal, term) == mode)
  }

  @Test(arguments: [
    (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8", "TERM": "xterm"], true), (["LANG": "C"], false), ([:], false),
    (["LC_ALL": "C", "LANG": "C.UTF-8"], false), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"], true),
    (["LANG": "C.UTF-8", "TERM": "linux"], false), (["LANG": "C.UTF-8", "TERM": "dumb"], false),
  ])
  func glyphs(_ environment: [String: String], _ hasBlocks: Bool) {
    #expect(ProgressLook.hasBlocks(environment) == hasBlocks)
  }
}

/// A pair of descriptors: what is written to one can be read from the other.
private final class Channel {
  let writing: Int32
  private let reading: Int32

  private init(writing: Int32, reading: Int32) {
    self.writing = writing
    self.reading = reading
    _ = fcntl(reading, F_SETFL, fcntl(reading, F_GETFL) | O_NONBLOCK)
  }

  deinit {
    close(writing)
    close(reading)
  }

  static func pipe() throws -> Channel {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw SystemFailure("pipe") }
    return Channel(writing: ends[1], reading: ends[0])
  }

  static func terminal(columns: UInt16) throws -> Channel {
    // The Glibc module does not export posix_openpt; these are the ioctls that it uses. Source: Linux,
    // asm-generic/ioctls.h.
    let (unlock, number) = (UInt(0x4004_5431), UInt(0x8004_5430))
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (isLocked, index): (Int32, Int32) = (0, 0)
    guard master >= 0, ioctl(master, unlock, &isLocked) == 0, ioctl(master, number, &index) == 0 else {
      throw SystemFailure("open terminal")
    }
    let slave = open("/dev/pts/\(index)", O_RDWR | O_NOCTTY)
    guard slave >= 0 else { throw SystemFailure("open terminal") }
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemFailure("TIOCSWINSZ") }
    return Channel(writing: slave, reading: master)
  }

  func resize(columns: UInt16) throws {
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(writing, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemFailure("TIOCSWINSZ") }
  }

  /// Everything written since the last call.
  func text() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(reading, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer.prefix(count)
    }
  }
}
