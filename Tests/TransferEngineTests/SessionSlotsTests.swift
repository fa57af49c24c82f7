import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SessionSlotsTests {
  private let a = BatchID(rawValue: 1), b = BatchID(rawValue: 2)

  /// Takes all files that may begin; `places` has the place of each file.
  private func take(_ slots: inout SessionSlots, perHost: Int, _ places: [Int64: SessionSlots.Place]) -> [Int64] {
    var taken: [Int64] = []
    let hosts = Set(places.values.map(\.host)).count
    while let file = slots.next(mostPerHost: perHost, hosts: hosts, place: { places[$0.rawValue] }) {
      taken.append(file.rawValue)
    }
    return taken
  }

  private func slots(_ files: ClosedRange<Int64>) -> SessionSlots {
    var slots = SessionSlots()
    for file in files { slots.request(FileID(rawValue: file)) }
    return slots
  }

  @Test func aFullHostHoldsUpNoOther() {
    var slots = slots(1...6)
    let places = Dictionary(
      uniqueKeysWithValues: (1...6).map {
        (Int64($0), SessionSlots.Place(host: $0 < 5 ? "slow" : "fast", batch: a))
      })
    #expect(take(&slots, perHost: 2, places) == [1, 2, 5, 6])
    #expect(take(&slots, perHost: 2, places) == [])
    slots.release(FileID(rawValue: 5))
    #expect(take(&slots, perHost: 2, places) == [])
    slots.release(FileID(rawValue: 1))
    #expect(take(&slots, perHost: 2, places) == [3])
  }

  @Test func aBatchHasNoMoreThanItsShare() {
    var slots = slots(1...4)
    let places = Dictionary(
      uniqueKeysWithValues: (1...4).map {
        (Int64($0), SessionSlots.Place(host: "h", batch: $0 < 4 ? a : b, share: $0 < 4 ? 1 : nil))
      })
    #expect(take(&slots, perHost: 8, places) == [1, 4])
    slots.release(FileID(rawValue: 4))
    #expect(take(&slots, perHost: 8, places) == [])
    slots.release(FileID(rawValue: 1))
    #expect(take(&slots, perHost: 8, places) == [2])
  }

  @Test func aFileThatLeftMeanwhileTakesNoSlot() {
    var slots = slots(1...3)
    let place = SessionSlots.Place(host: "h", batch: a)
    #expect(take(&slots, perHost: 1, [2: place, 3: place]) == [2])
    slots.release(FileID(rawValue: 1))
    #expect(take(&slots, perHost: 1, [2: place, 3: place]) == [])
    slots.release(FileID(rawValue: 2))
    slots.release(FileID(rawValue: 2))
    #expect(take(&slots, perHost: 1, [3: place]) == [3])
  }

  @Test func aFileStandsInLineOnce() {
    var turns = FileTurns()
    for file in [1, 2, 1, 3, 2] { turns.append(FileID(rawValue: Int64(file))) }
    #expect(turns.count == 3 && turns.popFirst()?.rawValue == 1)
    turns.append(FileID(rawValue: 1))
    #expect((0..<4).map { _ in turns.popFirst()?.rawValue } == [2, 3, 1, nil])
  }
}
