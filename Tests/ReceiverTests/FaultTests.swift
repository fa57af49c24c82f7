import Glibc
import Testing
import TransferModel

@testable import Receiver

@Suite struct FaultTests {
  @Test func answersTheScriptedStatusAndKeepsNothing() throws {
    let receiver = try ReceiverFixture(script: "match PUT /a nth=2 : status=503 retry-after=2 times=2")
    let client = receiver.client()
    var statuses: [Int?] = []
    for _ in 0..<5 {
      client.send(ReceiverFixture.request("PUT", "/a", sample(50_000)))
      let reply = client.reply()
      statuses.append(reply?.status)
      #expect((reply?.fields["retry-after"] == "2") == (reply?.status == 503))
    }
    #expect(statuses == [201, 503, 503, 204, 204])
    #expect(try receiver.events().commits.count == 3)
    #expect(try receiver.events().received.count == 5)
  }

  @Test func earlyStatusComesBeforeTheBody() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : early-status=429 retry-after=\"in a while\"")
    let client = receiver.client()
    client.send("PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: 100000000\r\n\r\n")
    let reply = client.reply()
    #expect(reply?.status == 429)
    #expect(reply?.fields["retry-after"] == "in a while")
    #expect(reply?.fields["connection"] == "close")
    #expect(client.rest() == [])
  }

  @Test func lateStatusComesAfterTheWork() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : late-status=503 retry-after=2")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(1_000)))
    let reply = client.reply()
    #expect(reply?.status == 503 && reply?.fields["retry-after"] == "2")
    #expect(try receiver.events().commits.count == 1)
  }

  @Test func cutEndsTheBodyAtTheByte() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : cut-after=70000")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(200_000)))
    #expect(client.rest() == [])
    #expect(client.ending == .closed)
    let small = receiver.client()
    small.send(ReceiverFixture.request("PUT", "/b", sample(10)))
    #expect(small.rest() == [])
    #expect(receiver.names() == [".transfers-receiver"])
    #expect(receiver.staged == [])
    #expect(
      try receiver.events().kinds == [
        "open", "start PUT", "fault 1 cut-after=70000", "bytes 0+70000", "lost 0 cut-after",
        "start PUT", "fault 1 cut-after=70000", "bytes 0+10", "lost 0 cut-after",
      ])
  }

  @Test func resetIsAReset() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : reset-after=100")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(1000)))
    #expect(client.rest() == [])
    #expect(client.ending == .reset)
    #expect(try receiver.events().received == [ByteRange(offset: 0, length: 100)])
    #expect(receiver.content("a") == nil)
  }

  @Test func lostAnswerCommitsFirst() throws {
    let receiver = try ReceiverFixture(script: "match PUT * nth=1 : lose-answer")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", [1, 2]))
    #expect(client.rest() == [])
    #expect(client.ending == .closed)
    #expect(receiver.content("a") == [1, 2])
    #expect(receiver.ask("PUT", "/a", [1, 2])?.status == 204)
    #expect(
      try receiver.events().kinds == [
        "open", "start PUT", "fault 1 lose-answer", "bytes 0+2", "commit 2", "lost 201 lose-answer",
        "start PUT", "bytes 0+2", "commit 2", "answer 204",
      ])
  }

  @Test func garbageIsTheSameForTheSameSeed() throws {
    let answers = try [UInt64]([7, 7, 8]).map { seed in
      let receiver = try ReceiverFixture(script: "match PUT * : garbage", seed: seed)
      let client = receiver.client()
      client.send(ReceiverFixture.request("PUT", "/a", [1]))
      return client.rest()
    }
    #expect(answers[0].count == 64)
    #expect(answers[0] == answers[1])
    #expect(answers[0] != answers[2])
  }

  @Test func truncatedAnswerPromisesMoreThanItSends() throws {
    let receiver = try ReceiverFixture(script: "match GET * : truncate-answer\nmatch PUT /b : truncate-answer")
    receiver.ask("PUT", "/a", sample(1000))
    let got = receiver.ask("GET", "/a")
    #expect(got?.status == 200)
    #expect(got?.isTruncated == true)
    #expect(got?.body == Array(sample(1000)[..<500]))
    #expect(receiver.ask("PUT", "/b", [1]) == nil)
    #expect(receiver.content("b") == [1])
  }

  @Test func downloadsAreCutToo() throws {
    let receiver = try ReceiverFixture(script: "match GET * : cut-after=300000")
    receiver.ask("PUT", "/a", sample(500_000))
    let got = receiver.ask("GET", "/a")
    #expect(got?.body == Array(sample(500_000)[..<300_000]))
    #expect(got?.isTruncated == true)
  }

  @Test func redirects() throws {
    let receiver = try ReceiverFixture(
      script: "match PUT /a : redirect=http://h/b\nmatch PUT /c : status=302 redirect=/d")
    #expect(receiver.ask("PUT", "/a", [1])?.fields["location"] == "http://h/b")
    #expect(receiver.ask("PUT", "/a", [1])?.status == 307)
    #expect(receiver.ask("PUT", "/c", [1])?.status == 302)
  }

  /// These actions are about time, so it is measured.
  @Test(arguments: ["latency=300", "stall=5,0.3", "stall=5000,0.3", "slow=100000", "slow=100000 lose-answer"])
  func slowsDown(action: String) throws {
    let receiver = try ReceiverFixture(script: "match PUT * : \(action)")
    let began = monotonicNanoseconds()
    let reply = receiver.ask("PUT", "/a", sample(40_000))
    #expect(monotonicNanoseconds() - began > 250_000_000)
    #expect(reply?.status == (action.contains("lose") ? nil : 201))
    #expect(receiver.content("a") == sample(40_000))
  }

  @Test func oneSeedReplaysOneRun() throws {
    let script =
      "match PUT * p=0.3 : status=500\nmatch PUT * every=4 : status=502\nmatch * * p=0.5 per=path : status=504"
    func run(seed: UInt64) throws -> [Int] {
      let receiver = try ReceiverFixture(script: script, seed: seed)
      let client = receiver.client()
      return (0..<60).map { i in
        client.send(ReceiverFixture.request("PUT", "/\(i % 7)", [1]))
        return client.reply()?.status ?? 0
      }
    }
    let first = try run(seed: 42)
    #expect(try run(seed: 42) == first)
    #expect(try run(seed: 43) != first)
    #expect(Set(first).isSuperset(of: [500, 502, 504, 201]))
  }

  @Test func countsEachPathForItself() throws {
    let receiver = try ReceiverFixture(script: "match PUT /x/* nth=1 per=path : status=503")
    #expect(receiver.ask("PUT", "/x/a", [1])?.status == 503)
    #expect(receiver.ask("PUT", "/x/b", [1])?.status == 503)
    #expect(receiver.ask("PUT", "/x/a", [1])?.status == 201)
    #expect(receiver.ask("PUT", "/y", [1])?.status == 201)
  }
}
