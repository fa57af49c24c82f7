import Testing
import TransferModel

@testable import TransferReports

/// Figures of two selections side by side.
@Suite struct CompareTests {
  private static func figure(_ before: Cell, _ after: Cell) -> ComparedFigure {
    ComparedFigure(name: "x", title: "x", before: before, after: after)
  }

  @Test func changesKeepTheirKind() {
    #expect(Self.figure(.bytes(4096), .bytes(1024)).change == .bytes(-3072))
    #expect(Self.figure(.bytes(4096), .bytes(1024)).percent == -75)
    #expect(Self.figure(.milliseconds(300), .milliseconds(400)).change == .milliseconds(100))
    #expect(Self.figure(.milliseconds(300), .milliseconds(400)).percent == 33.333)
    #expect(Self.figure(.share(0.1), .share(0.3)).change == .points(0.2))
  }

  /// A share that grows by a fifth of itself has not grown by 20 %.
  @Test func theChangeOfAShareIsInPoints() {
    #expect(Self.figure(.share(0.0410), .share(0)).change.text == "-4.10 points")
    #expect(Self.figure(.share(0.5), .share(0.51)).change.text == "1 point")
    #expect(Self.figure(.share(0.5), .share(0.5)).change.text == "0 points")
    #expect(Self.figure(.share(0.041), .share(0)).change.plainText == "-0.041")
    let percents = [-66.667, 3710.964, 100, 0.04, -0.04].map { Cell.percent($0).text }
    #expect(percents == ["-66.6 %", "3710.9 %", "100 %", "0 %", "0 %"])
    #expect(Cell.percent(-66.667).plainText == "-66.667")
  }

  @Test func nobodyKnowsThePercentOfNothing() {
    #expect(Self.figure(.integer(0), .integer(5)).percent == nil)
    #expect(Self.figure(.integer(0), .integer(5)).change == .integer(5))
    #expect(Self.figure(.none, .integer(5)).change == .none)
    #expect(Self.figure(.integer(5), .none).percent == nil)
  }

  @Test func absurdFiguresAreComparedToo() {
    #expect(Self.figure(.integer(.min), .integer(.max)).change == .integer(.max))
    #expect(Self.figure(.milliseconds(.max), .milliseconds(.min)).change == .milliseconds(.min))
    #expect(Cell.milliseconds(.min).text.hasPrefix("-"))
  }
}
