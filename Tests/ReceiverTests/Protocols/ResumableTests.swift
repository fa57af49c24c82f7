import Glibc
import Testing
import TransferModel

@testable import Receiver

/// The resumable uploads of the IETF, in the supported versions.
@Suite struct ResumableTests {
  private static func version(_ number: Int?) -> [String] {
    number.map { ["Upload-Draft-Interop-Version: \($0)"] } ?? []
  }

  private static let media = "Content-Type: application/partial-upload"

  /// All answers to a creation: the interim answers, then the final one.
  private func replies(_ receiver: ReceiverFixture, _ request: [UInt8]) -> [RawClient.Reply] {
    let client = receiver.client()
    client.send(request)
    var out: [RawClient.Reply] = []
    while let reply = client.reply() {
      out.append(reply)
      if reply.status >= 200 { break }
    }
    return out
  }

  private func create(
    _ receiver: ReceiverFixture, at target: String = "a", _ body: [UInt8], complete: String = "?1", version: Int? = 9,
    _ fields: [String] = []
  ) -> [RawClient.Reply] {
    let all = Self.version(version) + ["Upload-Complete: \(complete)"] + fields
    return replies(receiver, ReceiverFixture.request("POST", "/-/resumable/\(target)", body, fields: all))
  }

  private func patch(
    _ receiver: ReceiverFixture, _ path: String, at offset: Int, _ body: [UInt8], complete: String = "?1",
    _ fields: [String] = []
  ) -> RawClient.Reply? {
    let all = Self.version(9) + ["Upload-Offset: \(offset)", "Upload-Complete: \(complete)", Self.media] + fields
    return receiver.ask("PATCH", path, body, fields: all)
  }

  private func head(_ receiver: ReceiverFixture, _ path: String) -> [String: String] {
    receiver.ask("HEAD", path, fields: Self.version(9))?.fields ?? [:]
  }

  @Test(arguments: [9, 8, nil] as [Int?])
  func aWholeUploadGetsItsURLAtOnce(version: Int?) throws {
    let receiver = try ReceiverFixture()
    let answers = create(receiver, at: "in/a.bin?max-age=100", sample(1000), version: version)
    try #require(answers.map(\.status) == [104, 201])
    #expect(answers[0].fields["location"]?.hasPrefix("http://test/-/resumable-uploads/") == true)
    #expect(answers[0].fields["upload-draft-interop-version"] == version.map(String.init))
    #expect(answers[0].fields["upload-limit"]?.hasPrefix("max-age=") == true)
    #expect(answers[1].fields["upload-complete"] == "?1")
    #expect(receiver.content("in/a.bin") == sample(1000))
    #expect(try receiver.events().commits.map(\.path) == ["in/a.bin"])
  }

  @Test func progressIsToldEvery8MiB() throws {
    let receiver = try ReceiverFixture()
    let answers = create(receiver, [UInt8](repeating: 7, count: 17 << 20))
    try #require(answers.map(\.status) == [104, 104, 104, 201])
    #expect(answers[1...2].map { Int($0.fields["upload-offset"] ?? "") ?? 0 }.allSatisfy { $0 >= 8 << 20 })
    #expect(answers[1].fields["location"] == nil)
    #expect(create(receiver, at: "b?no-104", [1]).map(\.status) == [201])
  }

  @Test func continuesAtItsOffset() throws {
    let receiver = try ReceiverFixture()
    let made = create(receiver, Array(sample(100)[..<40]), complete: "?0", ["Upload-Length: 100"])
    try #require(made.map(\.status) == [104, 201])
    #expect(made.last?.fields["upload-complete"] == "?0")
    #expect(made.last?.fields["upload-offset"] == "40" && made.last?.fields["location"] == made[0].fields["location"])
    let path = TusClient.path(made[0].fields["location"])
    let wrong = patch(receiver, path, at: 50, [1])
    #expect(wrong?.status == 409 && wrong?.fields["upload-offset"] == "40" && wrong?.fields["upload-complete"] == "?0")
    let problem = JSON(wrong?.body ?? [])
    #expect(problem?["type"]?.text?.hasSuffix("#mismatching-upload-offset") == true)
    #expect(problem?["expected-offset"]?.number == 40 && problem?["provided-offset"]?.number == 50)
    #expect(patch(receiver, path, at: 40, Array(sample(100)[40..<70]), complete: "?0")?.status == 204)
    let fields = head(receiver, path)
    #expect(fields["upload-offset"] == "70" && fields["upload-length"] == "100" && fields["upload-complete"] == "?0")
    #expect(fields["cache-control"] == "no-store")
    #expect(patch(receiver, path, at: 70, Array(sample(100)[70...]), complete: "?0")?.status == 204)
    #expect(receiver.content("a") == nil)
    let final = patch(receiver, path, at: 100, [])
    #expect(final?.status == 201 && final?.fields["upload-complete"] == "?1")
    #expect(receiver.content("a") == sample(100))
    #expect(patch(receiver, path, at: 100, []) == final?.withDate(of: patch(receiver, path, at: 100, [])))
    #expect(head(receiver, path)["upload-complete"] == "?1")
    #expect(try receiver.events().commits.count == 1)
  }

  @Test func theLengthsHaveToAgree() throws {
    let receiver = try ReceiverFixture()
    let wrong = create(receiver, [1, 2], ["Upload-Length: 3"])
    try #require(wrong.map(\.status) == [400])
    #expect(JSON(wrong[0].body)?["type"]?.text?.hasSuffix("#inconsistent-upload-length") == true)
    let path = TusClient.path(create(receiver, [], complete: "?0", ["Upload-Length: 5"]).last?.fields["location"])
    #expect(patch(receiver, path, at: 0, [1, 2, 3])?.status == 400)
    #expect(patch(receiver, path, at: 0, [1, 2, 3, 4, 5, 6], complete: "?0")?.status == 400)
    #expect(patch(receiver, path, at: 0, [1, 2, 3, 4, 5])?.status == 201)
    #expect(patch(receiver, path, at: 5, [6])?.status == 400)
  }

  @Test func whatCameBeforeABreakCounts() throws {
    let receiver = try ReceiverFixture(script: "match POST * : cut-after=70000\nmatch HEAD * nth=2 : wrong-offset=1000")
    let made = create(receiver, sample(100_000))
    try #require(made.map(\.status) == [104])
    let path = TusClient.path(made[0].fields["location"])
    #expect(head(receiver, path)["upload-offset"] == "70000")
    #expect(head(receiver, path)["upload-offset"] == "69000")
    #expect(patch(receiver, path, at: 69_000, Array(sample(100_000)[69_000...]))?.status == 201)
    #expect(receiver.content("a") == sample(100_000))
  }

  @Test func limitsAreToldAndKept() throws {
    let receiver = try ReceiverFixture()
    let query = "a?max-size=100&max-append-size=50&min-append-size=10"
    let options = receiver.ask("OPTIONS", "/-/resumable/\(query)", fields: Self.version(9))
    #expect(options?.fields["upload-limit"] == "max-size=100, max-append-size=50, min-append-size=10")
    #expect(receiver.ask("OPTIONS", "/-/resumable/a")?.fields["upload-limit"] == "min-size=0")
    #expect(create(receiver, at: query, sample(51)).map(\.status) == [413])
    #expect(create(receiver, at: query, [], complete: "?0", ["Upload-Length: 101"]).map(\.status) == [413])
    let path = TusClient.path(create(receiver, at: query, [], complete: "?0").last?.fields["location"])
    #expect(patch(receiver, path, at: 0, [1], complete: "?0")?.status == 400)
    #expect(patch(receiver, path, at: 0, sample(50), complete: "?0")?.status == 204)
    #expect(
      patch(receiver, path, at: 50, sample(51), complete: "?0")?.fields["upload-limit"]?.hasPrefix("max-s") == true)
    #expect(patch(receiver, path, at: 50, [1])?.status == 201)
    let expired = create(receiver, at: "b?max-age=0", [], complete: "?0").last?.fields["location"]
    #expect(patch(receiver, TusClient.path(expired), at: 0, [1])?.status == 410)
  }

  @Test func digestsAreCompared() throws {
    let receiver = try ReceiverFixture()
    let whole = "Repr-Digest: sha-256=:\(base64(RunningHash.of(sample(20), .sha256))):"
    let wrong = create(receiver, sample(21), [whole])
    try #require(wrong.map(\.status) == [104, 400])
    #expect(wrong[1].fields["upload-complete"] == "?1")
    let made = create(receiver, Array(sample(20)[..<10]), complete: "?0", [whole]).last
    let path = TusClient.path(made?.fields["location"])
    let rest = Array(sample(20)[10...])
    let content = "Content-Digest: sha-512=:\(base64(RunningHash.of(rest, .sha512))):"
    let refused = patch(receiver, path, at: 10, [UInt8](repeating: 0, count: 10), [content])
    #expect(refused?.status == 400 && refused?.fields["upload-complete"] == "?0")
    #expect(head(receiver, path)["upload-offset"] == "10")
    #expect(patch(receiver, path, at: 10, rest, [content])?.status == 201)
    #expect(receiver.content("a") == sample(20))
  }

  @Test func canBeCancelled() throws {
    let receiver = try ReceiverFixture()
    let path = TusClient.path(create(receiver, [1], complete: "?0").last?.fields["location"])
    #expect(receiver.ask("DELETE", path, fields: Self.version(9))?.status == 204)
    #expect(receiver.ask("HEAD", path, fields: Self.version(9))?.status == 404)
    #expect(receiver.staged == [])
  }

  /// Without the fields, or with an unsupported version, a whole body is an ordinary upload.
  @Test func otherRequestsAreOrdinaryUploads() throws {
    let receiver = try ReceiverFixture()
    #expect(replies(receiver, ReceiverFixture.request("PUT", "/-/resumable/a", [1])).map(\.status) == [201])
    #expect(create(receiver, at: "b", [1], version: 7).map(\.status) == [201])
    #expect(create(receiver, at: "c", [1], complete: "?0", version: 7).map(\.status) == [400])
    #expect(create(receiver, at: "d", [1], complete: "1").map(\.status) == [201])
    #expect(receiver.content("a") == [1] && receiver.content("b") == [1] && receiver.content("c") == nil)
    #expect(receiver.ask("PUT", "/-/resumable/-/a", [1])?.status == 403)
    #expect(create(receiver, at: "a", [2], ["If-None-Match: *"]).last?.status == 412)
    #expect(receiver.content("a") == [1])
  }
}

extension RawClient.Reply {
  /// The same answer with the date of another one.
  func withDate(of other: RawClient.Reply?) -> RawClient.Reply {
    var reply = self
    reply.fields["date"] = other?.fields["date"]
    return reply
  }
}
