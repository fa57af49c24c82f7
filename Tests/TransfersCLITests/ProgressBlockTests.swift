import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// The progress block as strings. Set RECORD_SNAPSHOTS=1 to record it again.
@Suite struct ProgressBlockTests {
  private func block(_ columns: Int, _ rows: Int, ascii: Bool = false) -> ProgressBlock {
    var block = ProgressBlock(columns: columns, rows: rows, title: "b412  http://127.0.0.1:8791/in/")
    if ascii { block.glyphs = .ascii }
    return block
  }

  @Test(arguments: [40, 60, 80, 100, 200], [5, 24])
  func frames(_ columns: Int, _ rows: Int) throws {
    let lines = block(columns, rows).lines(ProgressFrames.middle())
    try Golden.expect("progress \(columns)x\(rows)", lines.map { $0 + "\n" }.joined(), hiding: "\0")
  }

  @Test func asciiFrame() throws {
    let lines = block(80, 24, ascii: true).lines(ProgressFrames.middle())
    #expect(lines.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
    try Golden.expect("progress ascii", lines.map { $0 + "\n" }.joined(), hiding: "\0")
  }

  @Test func noLineIsWiderThanItsTerminalAndNoBlockHigher() {
    for columns in Array(1...64) + Array(stride(from: 65, through: 220, by: 5)) {
      for rows in [1, 5, 24] {
        for isColoured in [false, true] {
          var block = block(columns, rows, ascii: columns % 2 == 0)
          block.style.usesColour = isColoured
          let lines = block.lines(ProgressFrames.middle())
          #expect(lines.count < max(2, rows))
          for line in lines.map(Self.withoutColour) {
            #expect(DisplayWidth.of(line) <= max(1, columns - 1), "\(columns) columns: \(line)")
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
          }
        }
      }
    }
  }

  @Test func whatDoesNotFitIsCounted() {
    #expect(block(80, 24).lines(ProgressFrames.middle()).contains(" +17 more"))
    #expect(block(80, 6).lines(ProgressFrames.middle()).contains(" +21 more"))
    #expect(block(59, 24).lines(ProgressFrames.middle()).count == 1)
  }

  /// In any history of requests that move bytes, succeed or fail, solid cells only increase; medium ones come and go.
  @Test func onlyTheMediumPartOfABarShrinks() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let total = Int64.random(in: 1...1 << 40, using: &generator)
      let columns = Int.random(in: 1...60, using: &generator)
      var (acked, flight, solidBefore) = (Int64(0), Int64(0), 0)
      for _ in 0..<100 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: flight = 0
        case 1: (acked, flight) = (acked + flight, 0)
        default: flight += Int64.random(in: 0...max(0, total - acked - flight), using: &generator) / 7
        }
        let bar = block(80, 24, ascii: true).bar(acked, acked + flight, of: total, to: columns)
        let solid = bar.prefix { $0 == "#" }.count
        #expect(bar.count == columns)
        #expect(solid >= solidBefore)
        #expect(bar.drop { $0 == "#" }.drop { $0 == "=" }.allSatisfy { $0 == "." })
        #expect((solid == columns) == (acked == total))
        solidBefore = solid
      }
    }
  }

  @Test func colourRepeatsWhatTheWordsSay() {
    var coloured = block(100, 24)
    coloured.style.usesColour = true
    let plain = block(100, 24).lines(ProgressFrames.middle())
    let lines = coloured.lines(ProgressFrames.middle())
    #expect(lines != plain)
    #expect(lines.map(Self.withoutColour) == plain)
  }

  static func withoutColour(_ line: String) -> String {
    line.replacing("\u{1B}[0m", with: "").replacing(#/\u{1B}\[[0-9]+m/#, with: "")
  }
}
