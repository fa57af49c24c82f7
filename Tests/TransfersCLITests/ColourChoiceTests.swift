import Testing
import TransferReports

@testable import TransfersCLI

@Suite struct ColourChoiceTests {
  @Test(arguments: [
    (ColourChoice.auto, ["NO_COLOR": "1", "FORCE_COLOR": "1"], true, false), (.auto, ["FORCE_COLOR": "1"], false, true),
    (.auto, ["TERM": "dumb"], true, false), (.auto, ["NO_COLOR": ""], true, true), (.auto, [:], false, false),
    (.always, ["NO_COLOR": "1"], false, true), (.never, ["FORCE_COLOR": "1"], true, false),
  ])
  func whenColourIsUsed(_ choice: ColourChoice, _ environment: [String: String], _ isTerminal: Bool, _ uses: Bool) {
    #expect(TextStyle.usesColour(choice, environment: environment, isTerminal: isTerminal) == uses)
  }
}
