import Testing
import TransferModel

@testable import TransferEngine

@Suite struct FullDiskWatchTests {
  private let a = FileID(rawValue: 1)
  private let b = FileID(rawValue: 2)
  private let c = FileID(rawValue: 3)
  private let one = BatchID(rawValue: 1)
  private let two = BatchID(rawValue: 2)

  @Test func theSecondFileInARowShowsThatTheDiskIsFull() {
    var watch = FullDiskWatch()
    // Another chunk of the same file, and a file of a batch that may have another disk, show nothing.
    var rests: [Bool] = []
    for (file, batch) in [(a, one), (a, one), (b, two)] { rests.append(watch.refused(file, of: batch)) }
    #expect(rests == [false, false, false] && watch.batches.isEmpty)
    // It rests from now on; that is told once.
    for file in [c, b] { rests.append(watch.refused(file, of: one)) }
    #expect(rests.suffix(2) == [true, false] && watch.batches == [one])
  }

  @Test func aFileThatFitsShowsThatAnotherWasTooLarge() {
    var watch = FullDiskWatch()
    _ = watch.refused(a, of: one)
    watch.fits(one)
    let rests = watch.refused(b, of: one)
    #expect(!rests && watch.batches.isEmpty)
  }
}
