import Testing

@testable import TransferEngine

/// Bodies that count completely or not at all, over simulated lines with a simulated clock.
@Suite struct BodyLengthTests {
  private static let mebibyte: Int64 = 1 << 20

  @Test func aFastLineHasLongBodiesSoon() {
    var line = PlayedLine(bytesPerMs: 1_000_000, aliveMs: .max)
    line.send(2_048 * Self.mebibyte)
    #expect(Array(line.bodies.prefix(4)) == [8, 16, 32, 64].map { $0 * Self.mebibyte })
    #expect(line.bodies.count == 9)
  }

  /// At a quarter of a megabyte per second, eight MiB take half a minute, so bodies do not get longer.
  @Test func aSlowLineKeepsShortOnes() {
    var line = PlayedLine(bytesPerMs: 250, aliveMs: .max)
    line.send(70 * Self.mebibyte)
    #expect(Set(line.bodies) == [8 * Self.mebibyte, 6 * Self.mebibyte])
  }

  /// 4 MB/s, cut every 8 s: with bodies of 64 MiB nothing would ever arrive. Four fifths of the bytes sent count.
  @Test func mostOfWhatGoesOutArrivesOverALineThatDrops() {
    var line = PlayedLine(bytesPerMs: 4_000, aliveMs: 8_000)
    line.send(700 * Self.mebibyte)
    #expect(Double(line.sent) < 1.25 * Double(700 * Self.mebibyte))
    #expect(line.bodies.count < 400, "and bodies do not become tiny")
  }

  /// The same line, cut every 1.2 s.
  @Test func aLineThatHardlyStandsGetsShorterOnes() {
    var line = PlayedLine(bytesPerMs: 4_000, aliveMs: 1_200)
    line.send(70 * Self.mebibyte)
    #expect(Double(line.sent) < 1.7 * Double(70 * Self.mebibyte))
  }

  @Test func aLossHalvesWhatWentOutButNotMoreThanTwice() {
    var length = BodyLength()
    length.lost(6 * Self.mebibyte, of: 8 * Self.mebibyte)
    #expect(length.limit == 3 * Self.mebibyte)
    length = BodyLength()
    length.lost(1, of: 8 * Self.mebibyte)
    #expect(length.limit == 2 * Self.mebibyte)
    for _ in 0..<9 { length.lost(1, of: length.limit) }
    #expect(length.limit == BodyLength.shortest)
  }

  /// A small file that was lost, or that arrived, says nothing about long bodies.
  @Test func shortBodiesSayNothing() {
    var length = BodyLength()
    length.lost(1_000, of: 10_000)
    length.stored(10_000, tookMs: 1, afterLoss: false)
    #expect(length.limit == BodyLength.first)
  }
}

/// Connections that each move `bytesPerMs` and last `aliveMs`, one after the other.
private struct PlayedLine {
  let bytesPerMs: Int64
  let aliveMs: Int64
  private(set) var sent: Int64 = 0
  /// The lengths of the bodies that arrived.
  private(set) var bodies: [Int64] = []
  private var length = BodyLength()
  private var losses = 0
  private var ageMs: Int64 = 0

  init(bytesPerMs: Int64, aliveMs: Int64) {
    self.bytesPerMs = bytesPerMs
    self.aliveMs = aliveMs
  }

  mutating func send(_ size: Int64) {
    var left = size
    while left > 0 {
      let body = min(left, length.limit, 1 << 32)
      let tookMs = body / bytesPerMs
      if tookMs <= aliveMs - ageMs {
        ageMs += tookMs
        sent += body
        left -= body
        bodies.append(body)
        length.stored(body, tookMs: tookMs, afterLoss: losses > 0)
      } else {
        let out = (aliveMs - ageMs) * bytesPerMs
        sent += out
        length.lost(out, of: body)
        losses += 1
        ageMs = 0
      }
    }
  }
}
