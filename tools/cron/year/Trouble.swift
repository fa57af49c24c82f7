import Glibc
import TransferModel

/// Random faults around the runs, never in the calm phase.
final class Trouble: @unchecked Sendable {
  private let server: YearServer
  private let clock: YearClock
  private let tokenPath: String
  /// The runs during which the server cannot be reached at all.
  private let longOutage: Range<Int>
  private(set) var isLong = false
  private let stormy = Lock(true)
  // Used between the runs only.
  private var weather = YearServer.Weather.fine
  private var weatherLeft = 0
  private var hooksLeft = 0
  private var token = 0
  /// The number of runs until somebody renews the credential; nil while it is valid.
  private var tokenLeft: Int?

  init(server: YearServer, clock: YearClock, tokenPath: String, longOutage: Range<Int>) {
    (self.server, self.clock, self.tokenPath, self.longOutage) = (server, clock, tokenPath, longOutage)
  }

  var isStormy: Bool { stormy.withLock { $0 } }

  /// Before each run.
  func change(_ chance: inout Chance, run: Int) throws {
    isLong = longOutage.contains(run)
    weatherLeft -= 1
    if weatherLeft <= 0 {
      weather = .fine
      if chance.happens(4) {
        weather = Bool.random(using: &chance) ? .unavailable : .unreachable
        weatherLeft = Int.random(in: 1...8, using: &chance)
      }
    }
    hooksLeft = hooksLeft > 0 ? hooksLeft - 1 : chance.happens(4) ? Int.random(in: 1...30, using: &chance) : 0
    try changeCredential(&chance)
    if chance.happens(3) { clock.setWall(byMs: Int64.random(in: -172_800_000...172_800_000, using: &chance)) }
    server.set(isLong ? .unreachable : weather, hooksAreDown: hooksLeft > 0, mishaps: 30)
  }

  private func changeCredential(_ chance: inout Chance) throws {
    if let left = tokenLeft {
      tokenLeft = left - 1
      if left <= 1 { try renew() }
    } else if chance.happens(3) {
      token += 1
      server.accept(token: "t\(token)")
      tokenLeft = Int.random(in: 1...6, using: &chance)
    }
  }

  private func renew() throws {
    try YearFile.write("t\(token)\n", to: tokenPath)
    tokenLeft = nil
  }

  func planDisk(_ chance: inout Chance) {
    if chance.happens(40) {
      FaultyDisk.plan(.crash, afterWrites: Int.random(in: 0..<160, using: &chance))
    } else if chance.happens(15) {
      FaultyDisk.plan(
        .full(writes: Int.random(in: 1...200, using: &chance)), afterWrites: Int.random(in: 0..<80, using: &chance))
    }
  }

  /// Ends all faults.
  func end() throws {
    stormy.withLock { $0 = false }
    isLong = false
    (weatherLeft, hooksLeft) = (0, 0)
    if tokenLeft != nil { try renew() }
    server.set(.fine, hooksAreDown: false, mishaps: 0)
  }

  func begin() { stormy.withLock { $0 = true } }
}

enum YearFile {
  /// Writes a complete new file, accessible to its owner only.
  static func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw YearFailure("open \(path): \(errno)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw YearFailure("write \(path)") }
  }
}
