import Testing
import TransferModel

@testable import TransferReports

/// A trace and its compression. tools/test.d/history reads complete traces with Python's JSON and gzip modules.
@Suite struct TraceTests {
  private static func packed(_ text: String) -> String {
    var gzip = Gzip()
    let bytes = gzip.add(Array(text.utf8)) + gzip.finish()
    return hexText(bytes)
  }

  /// Compressed as zlib does with its fixed codes.
  @Test(arguments: [
    ("", "0300", "0000000000000000"), ("a", "4b0400", "43beb7e801000000"),
  ])
  func smallTextsArePackedAsZlibDoes(_ text: String, _ body: String, _ end: String) {
    #expect(Self.packed(text) == "1f8b08000000000000ff" + body + end)
  }

  @Test func whatRepeatsItselfGetsSmall() {
    var gzip = Gzip()
    let line = Array("{\"name\":\"send\",\"ph\":\"X\"}\n".utf8)
    var size = 0
    for _ in 0..<4000 { size += gzip.add(line).count }
    size += gzip.finish().count
    #expect(size * 20 < line.count * 4000)
    #expect(size > 500)
  }

  /// Attempt 3 ended last. When it began, 2 was the last to have ended; when 2 began, none had ended.
  @Test func theCriticalPathGoesBackFromTheLastEnd() {
    var path = CriticalPath()
    for (attempt, start, end) in [(1, 0, 40), (2, 10, 50), (3, 60, 90), (4, 45, 80), (5, 88, 89)] {
      path.add(CriticalPath.Step(attempt: Int64(attempt), startedMs: Int64(start), endedMs: Int64(end)))
    }
    #expect(path.path.map(\.attempt) == [2, 3])
    #expect(CriticalPath().path.isEmpty)
  }

  private static func span(_ id: Int64, _ fromMs: Int64, _ toMs: Int64?) -> AttemptSpan {
    AttemptSpan(
      id: AttemptID(rawValue: id), file: FileID(rawValue: 1), chunk: nil, batch: BatchID(rawValue: 1),
      run: RunID(rawValue: 1), path: NameBytes("/a\"\n"), host: "h", operation: "part", outcome: "ok",
      startedMs: fromMs, endedMs: toMs, bytesTransferred: 1, bytesAcked: 1)
  }

  /// Overlapping attempts are on separate connections; an open attempt ends now.
  @Test func overlappingAttemptsHaveConnectionsOfTheirOwn() {
    var document = TraceDocument(nowMs: 100)
    for span in [Self.span(1, 0, 10), Self.span(2, 5, 15), Self.span(3, 10, nil)] { document.add(span) }
    let text = String(decoding: document.taken() + document.finish(), as: UTF8.self)
    func track(_ name: String) -> [String] {
      text.split(separator: "\n").filter { $0.contains("\"name\":\"\(name)\"") }.compactMap { line in
        line.firstMatch(of: /"pid":10,"tid":([0-9]+),"ts":([0-9]+)/).map { "\($0.output.1)@\($0.output.2)" }
      }
    }
    #expect(track("a1 part") == ["1@0"])
    #expect(track("a2 part") == ["2@5000"])
    #expect(track("a3 part") == ["1@10000"])
    #expect(text.contains(#""dur":90000"#))
    #expect(text.contains(#""name":"/a\"\n""#))
    #expect(text.hasSuffix("\n]}\n"))
  }
}
