import Testing

@testable import TransferReports

@Suite struct QuantityTests {
  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (102_399, "99.9 KiB"), (102_400, "100 KiB"),
    (1_048_575, "1023 KiB"), (1_048_576, "1.0 MiB"), (3_435_973_836, "3.1 GiB"), (-2048, "-2.0 KiB"),
    (Int64.max, "7.9 EiB"), (Int64.min, "-8.0 EiB"),
  ])
  func bytesAreRoundedDown(_ count: Int64, _ text: String) { #expect(Quantity.bytes(count) == text) }

  @Test(arguments: [
    (999, "999 B"), (1000, "1.0 kB"), (999_999, "999 kB"), (3_435_973_836, "3.4 GB"), (Int64.max, "9.2 EB"),
  ])
  func powersOfAThousand(_ count: Int64, _ text: String) { #expect(Quantity.bytes(count, .si) == text) }

  @Test(
    arguments: [
      (0, 0, "0 / 0 B"), (5, 900, "5 / 900 B"), (900 << 10, 2 << 20, "0.8 / 2.0 MiB"),
      (80 << 20, 900 << 20, "80.0 / 900 MiB"),
      (-5, 1 << 40, "0.0 / 1.0 TiB"),
    ] as [(Int64, Int64, String)])
  func aPartIsShownInTheUnitOfTheWhole(_ part: Int64, _ whole: Int64, _ text: String) {
    #expect(Quantity.fraction(part, of: whole) == text)
  }

  @Test(arguments: [
    (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "59.9 s"), (94_012, "1m 34s"), (7_500_000, "2h 05m"),
    (273_600_000, "3d 04h"), (-94_012, "-1m 34s"),
  ])
  func durations(_ ms: Int64, _ text: String) { #expect(Quantity.duration(ms) == text) }

  @Test(arguments: [
    (0, "0:00"), (1, "0:01"), (47_000, "0:47"), (599_000, "9:59"), (600_000, "10m"), (601_000, "11m"),
    (11_400_000, "3h 10m"), (86_400_000, "> 1 day"), (-5, "0:00"),
  ])
  func timeToGo(_ ms: Int64, _ text: String) { #expect(Quantity.remaining(ms) == text) }

  @Test func rateNeedsADuration() {
    #expect(Quantity.rate(bytes: 1000, ms: nil) == nil)
    #expect(Quantity.rate(bytes: 1000, ms: 0) == nil)
    #expect(Quantity.rate(bytes: 1000, ms: 500) == 2000)
    #expect(Quantity.rate(bytes: Int64.max, ms: 1000) == Int64.max / 1000 * 1000)
  }

  @Test(arguments: [
    (1, "file", "1 file"), (2, "file", "2 files"), (0, "batch", "0 batches"), (3, "retry", "3 retries"),
  ])
  func countsAgreeWithTheirNoun(_ number: Int, _ noun: String, _ text: String) {
    #expect(Quantity.count(number, noun) == text)
  }
}
