import Glibc
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

/// What a run writes to standard error, on a terminal and into a log.
@Suite struct ProgressReporterTests {
  private func snapshot(_ elapsedMs: Int64, done: Int = 1) -> ProgressSnapshot {
    var now = ProgressSnapshot()
    now.filesTotal = 10
    now.filesDone = done
    now.filesFailed = 0
    now.active = 1
    now.bytesTotal = 1000
    now.bytesAcked = Int64(done * 100)
    now.bytesInFlight = 0
    now.retrying = 0
    now.elapsedMs = elapsedMs
    return now
  }

  @Test func aLogGetsNothingForTenSecondsAndThenALineEveryThirty() throws {
    let pipe = try Channel.pipe()
    let reporter = ProgressReporter(OutputStream(descriptor: pipe.writing), isQuiet: false)
    for second in 0...75 { reporter.progress(snapshot(Int64(second) * 1000)) }
    reporter.finish()
    let lines = pipe.text().split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.hasPrefix("1 of 10 files") })
  }

  @Test func aTerminalLineIsRewrittenAtMostTenTimesASecond() throws {
    let terminal = try Channel.terminal(columns: 40)
    let reporter = ProgressReporter(OutputStream(descriptor: terminal.writing), isQuiet: false)
    for step in 0..<20 { reporter.progress(snapshot(Int64(step) * 20, done: step / 3)) }
    let frames = terminal.text().split(separator: "\r")
    #expect((2...4).contains(frames.count))
    #expect(frames.allSatisfy { $0.hasSuffix("\u{1B}[K") && DisplayWidth.of($0.dropLast(3)) < 40 })
    #expect(!frames.contains { $0.contains("\n") })
  }

  @Test func aTerminalThatDoesNotKnowItsWidthHas80() throws {
    let terminal = try Channel.terminal(columns: 0)
    #expect(OutputStream(descriptor: terminal.writing).columns == 80)
    let wide = try Channel.terminal(columns: 133)
    #expect(OutputStream(descriptor: wide.writing).columns == 133)
    #expect(OutputStream(descriptor: try Channel.pipe().writing).columns == nil)
  }

  @Test func messagesGoAboveTheLine() throws {
    let terminal = try Channel.terminal(columns: 80)
    let reporter = ProgressReporter(OutputStream(descriptor: terminal.writing), isQuiet: false)
    reporter.progress(snapshot(0))
    reporter.notice(.failed(path: NameBytes("/a\n\u{1B}b"), Failure(.http413, "too\nlarge")))
    reporter.finish()
    let text = terminal.text()
    #expect(text.contains("\r\u{1B}[Kfailed /a\\x0a\\x1bb: http.413: too\\x0alarge\r\n1 of 10 files"))
    #expect(text.hasSuffix("\r\u{1B}[K"))
  }

  @Test func aRetryIsToldOncePerReason() throws {
    let pipe = try Channel.pipe()
    let reporter = ProgressReporter(OutputStream(descriptor: pipe.writing), isQuiet: false)
    for code in [ErrorCode.netReset, .netReset, .http503, .netReset] {
      reporter.notice(.retrying(path: NameBytes("/a"), Failure(code, "x"), inMs: 10))
    }
    #expect(pipe.text().split(separator: "\n").count == 2)
  }

  @Test func quietKeepsOnlyWhatMustBeKnown() throws {
    let pipe = try Channel.pipe()
    let reporter = ProgressReporter(OutputStream(descriptor: pipe.writing), isQuiet: true)
    reporter.progress(snapshot(60_000))
    reporter.notice(.skipped(path: NameBytes("/fifo"), reason: "not a regular file"))
    reporter.announce("draining")
    #expect(pipe.text() == "draining\n")
  }
}

/// Two ends: what is written into one can be read from the other.
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
    // The module has no posix_openpt; these are its ioctls. Source: Linux, asm-generic/ioctls.h.
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

  /// Everything that was written so far.
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
