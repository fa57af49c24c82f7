import Testing
import TransferModel

@testable import TransferEngine

/// How many published checksums are in memory.
@Suite struct TableRoomTests {
  private let one = FileID(rawValue: 1)
  private let two = FileID(rawValue: 2)

  @Test func aTableThatIsAloneMayHaveAnyLength() {
    var room = TableRoom()
    #expect(room.left == .max)
    room.count(100 << 20, for: one)
    #expect(room.left == 0, "nothing beside it")
    room.count(0, for: one)
    #expect(room.left == .max)
  }

  @Test func severalTablesShareTheRoom() {
    var room = TableRoom()
    room.count(4 << 20, for: one)
    room.count(2 << 20, for: two)
    #expect(room.left == 10 << 20)
    room.count(6 << 20, for: one)
    #expect(room.left == 8 << 20, "a new length replaces the one before")
    room.count(0, for: one)
    #expect(room.left == 14 << 20)
  }

  @Test func aFileWithoutATableCountsNothing() {
    var room = TableRoom()
    room.count(0, for: two)
    #expect(room.left == .max)
    room.count(4 << 20, for: one)
    room.count(0, for: two)
    #expect(room.left == 12 << 20)
  }
}
