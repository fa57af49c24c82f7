import Testing
import TransferModel

@testable import TransferEngine

@Suite struct DiscoveryTests {
  private let first = FileID(rawValue: 1)
  private let second = FileID(rawValue: 2)
  private let third = FileID(rawValue: 3)

  @Test func theOthersWaitForTheOneThatAsks() {
    var discovery = Discovery()
    var isHeld = discovery.holds(first)
    #expect(!isHeld, "no file queries yet")
    discovery.begin(first)
    isHeld = discovery.holds(first)
    #expect(!isHeld, "it queries itself")
    for file in [second, third] {
      isHeld = discovery.holds(file)
      #expect(isHeld)
    }
    var released = discovery.end()
    #expect(released == [second, third])
    isHeld = discovery.holds(second)
    #expect(!isHeld, "the answer has arrived")
    released = discovery.end()
    #expect(released.isEmpty)
  }
}
