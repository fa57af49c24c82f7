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
    #expect(Self.figure(.share(0.1), .share(0.3)).change == .share(0.2))
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
