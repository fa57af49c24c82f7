import HTTPTypes
import Testing
import TransferModel

@Suite struct RetryAfterTests {
  private let now: Int64 = 784_111_777_000  // Sun, 06 Nov 1994 08:49:37 GMT

  private func wait(_ fields: [(String, String)]) -> Int64? {
    var all = HTTPFields()
    for (name, value) in fields { all[HTTPField.Name(name)!] = value }
    return RetryAfter.milliseconds(all, wallMs: now)
  }

  @Test(
    arguments: [
      ("0", 0), ("2", 2000), (" 7 ", 7000), ("3600", 3_600_000), ("3601", 3_600_000), ("-5", 0),
      ("99999999999999999999999", 3_600_000), ("Sun, 06 Nov 1994 08:49:47 GMT", 10_000),
      ("Sun, 06 Nov 1994 08:49:07 GMT", 0), ("Sun, 06 Nov 2094 08:49:07 GMT", 3_600_000),
    ] as [(String, Int64)])
  func readable(_ text: String, _ expected: Int64) {
    #expect(wait([("Retry-After", text)]) == expected)
  }

  @Test(arguments: ["", "soon", "1.5", "2 s", "0x10", "--1", "٣"])
  func garbageAsksForNothing(_ text: String) {
    #expect(wait([("Retry-After", text)]) == nil)
  }

  @Test func datesAreComparedWithTheServersClock() {
    let fields = [("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT"), ("Date", "Sun, 06 Nov 1994 08:50:30 GMT")]
    #expect(wait(fields) == 7000)
  }

  @Test func millisecondsOfObjectStores() {
    #expect(wait([("x-amz-retry-after", "1500")]) == 1500)
    #expect(wait([("retry-after-ms", "99999999")]) == 3_600_000)
    #expect(wait([("Retry-After", "1"), ("x-amz-retry-after", "1500")]) == 1000)
    #expect(wait([]) == nil)
  }
}
