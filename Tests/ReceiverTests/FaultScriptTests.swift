import Testing
import TransferModel

@testable import Receiver

@Suite struct FaultScriptTests {
  @Test func readsEveryWord() throws {
    let script = try FaultScript(
      text: """
        # a comment
        match PUT /a/* nth=3 : status=503 retry-after=2 times=2   # why

        match * * p=0.25 per=path times=9 : latency=5 slow=7 stall=8,0.5 lose-answer
        match GET "/with blank" every=2 : cut-after=10
        match * * : hold=a-1 late-hold=B body-hold=7,c
        """)
    #expect(script.rules.map(\.line) == [2, 4, 5, 6])
    #expect(script.rules.map(\.method) == ["PUT", nil, "GET", nil])
    #expect(script.rules.map(\.selector) == [.nth(3), .chance(0.25), .every(2), .all])
    #expect(script.rules.map(\.times) == [2, 9, nil, nil])
    #expect(script.rules[0].effect.status == 503 && script.rules[0].effect.retryAfter == "2")
    #expect(script.rules[0].effect.text == "status=503 retry-after=2 times=2")
    #expect(script.rules[1].isPerPath && script.rules[1].effect.ending == .loseAnswer)
    #expect(script.rules[1].effect.stall == FaultEffect.Stall(afterBytes: 8, milliseconds: 500))
    #expect(script.rules[1].effect.latencyMs == 5 && script.rules[1].effect.slow == 7)
    #expect(script.rules[2].pattern == Array("/with blank".utf8) && script.rules[2].effect.cutAfter == 10)
    #expect(script.rules[3].effect.holds == ["a-1", "B", "c"])
    #expect(script.rules[3].effect.bodyHold == FaultEffect.BodyHold(afterBytes: 7, name: "c"))
  }

  @Test func readsTheFaultsOfUploads() throws {
    let script = try FaultScript(
      text: """
        match PATCH * : locked=3
        match HEAD * : wrong-offset=10 offset-past-end forget-session no-104 html limit=5
        match POST * : bad-location=http://h/x token="a\\r\\nb: \\\\"
        """)
    let effects = script.rules.map(\.effect)
    #expect(effects[0].status == 423 && effects[0].isLocked && script.rules[0].times == 3)
    #expect(effects[1].regress == 10 && effects[1].isOffsetPastEnd && effects[1].forgetsSession)
    #expect(effects[1].hidesInterim && effects[1].isHTML && effects[1].limit == 5)
    #expect(effects[2].location == "http://h/x" && effects[2].token == "a\r\nb: \\")
  }

  @Test func readsTheFaultsOfDownloads() throws {
    let script = try FaultScript(
      text: """
        match GET * nth=2 : version=255 ignore-range weak-etag chunked
        match GET * : content-range="bytes 1-2/3" omit=ETag,Last-Modified no-length \
        earlier=9 field="Content-Type: text/html"
        """)
    let effects = script.rules.map(\.effect)
    #expect(effects[0].version == 255 && effects[0].ignoresRange && effects[0].isETagWeak)
    #expect(effects[0].framing == .chunked && effects[0].omitted.isEmpty && effects[0].contentRange == nil)
    #expect(effects[1].contentRange == "bytes 1-2/3" && effects[1].omitted == ["etag", "last-modified"])
    #expect(effects[1].framing == .close && effects[1].version == nil && !effects[1].ignoresRange)
    #expect(effects[1].earlier == 9 && effects[1].field == Answer.Field("Content-Type", "text/html"))
  }

  @Test(arguments: [
    ("mach PUT * : garbage", 1, "expected \"match\""), ("match put * : garbage", 7, "capitals"),
    ("match PUT", 10, "path pattern"), ("match PUT * garbage", 13, "unknown selector \"garbage\""),
    ("match PUT * :", 14, "expected an action"), ("match PUT * : stauts=503", 15, "unknown action \"stauts\""),
    ("match PUT * : status=99", 22, "from 200 to 599"), ("match PUT * nth=0 : garbage", 17, "above 0"),
    ("match PUT * p=1.5 : garbage", 15, "from 0 to 1"), ("match PUT * nth=1 p=1 : garbage", 19, "only one of"),
    ("match PUT * : stall=5", 21, "BYTES,SECONDS"), ("match PUT * : garbage=1", 23, "no value"),
    ("match PUT * : garbage lose-answer", 23, "contradicts"), ("match PUT * : cut-after=-1", 25, "whole number"),
    ("match PUT * : cut-after=1 reset-after=1", 40, "contradicts"), ("match PUT * : \"garbage", 15, "not closed"),
    ("match PUT * : slow=5 slow=6", 22, "twice"), ("match PUT * : retry-after=1", 28, "needs a status"),
    ("match PUT * times=1 : garbage times=2", 31, "twice"), ("match PUT * : status=500 early-status=500", 26, "contra"),
    ("match PUT * : status=500 late-status=500", 26, "contra"),
    ("match PUT * : status=500 locked=2", 26, "contra"), ("match PUT * times=2 : locked=2", 23, "contra"),
    ("match PUT * : hold=", 20, "a name"), ("match PUT * : late-hold=a/b", 25, "letters, digits"),
    ("match PUT * : body-hold=a", 25, "BYTES,NAME"), ("match PUT * : body-hold=1,", 25, "a name"),
    ("match PUT * : html=1", 20, "no value"), ("match PUT * : token=a\\x", 21, "can follow"),
    ("match GET * : version=0", 23, "from 1 to 255"), ("match GET * : version=256", 23, "from 1 to 255"),
    ("match GET * : chunked no-length", 23, "contradicts \"chunked\""), ("match GET * : omit=", 20, "expected a value"),
    ("match GET * : field=text/html", 21, "expected NAME:VALUE"), ("match GET * : earlier=-1", 23, "whole number"),
    ("match GET * : ignore-range=1", 28, "no value"), ("match GET * : content-range=", 29, "expected a value"),
  ])
  func namesLineAndColumnOfAMistake(line: String, column: Int, text: String) {
    #expect { try FaultScript(text: "\n\(line)", name: "s") } throws: { error in
      let cause = (error as? TransferError)?.cause ?? ""
      return cause.hasPrefix("line 2, column \(column): ") && cause.contains(text)
    }
  }

  @Test(arguments: [
    ("*", "/a", true), ("/a", "/a", true), ("/a", "/ab", false), ("/a*", "/ab/c", true), ("*.bin", "/x.bin", true),
    ("*.bin", "/x.bin2", false), ("/*/b*c", "/aa/b/b/c", true), ("/*/b*c", "/aa/b/b", false), ("**", "", true),
  ])
  func matchesPaths(pattern: String, path: String, matches: Bool) {
    let rule = FaultRule(line: 1, method: nil, pattern: Array(pattern.utf8))
    #expect(rule.matches(method: "PUT", path: Array(path.utf8)[...]) == matches)
  }

  @Test func chanceIsNearItsProbability() {
    let hits = (0..<10_000).count { unitInterval(5, 1, UInt64($0)) < 0.1 }
    #expect((850...1150).contains(hits))
  }
}
