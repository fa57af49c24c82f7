import Testing
import TransferModel

@testable import Receiver

/// Scripted and real faults in uploads of several requests, tested with tus.
@Suite struct UploadFaultTests {
  private func scene(_ script: String = "") throws -> (ReceiverFixture, TusClient) {
    let receiver = try ReceiverFixture(script: script)
    return (receiver, TusClient(receiver: receiver))
  }

  @Test func aCutBodyCountsUpToTheCut() throws {
    let (receiver, tus) = try scene("match PATCH * nth=1 : cut-after=70000\nmatch PATCH * nth=2 : reset-after=130000")
    let path = tus.upload(200_000, name: "a")
    #expect(tus.patch(path, at: 0, sample(200_000)) == nil)
    #expect(tus.offset(path) == 70_000)
    // All bytes arrive and only the answer is missing: the upload is complete.
    #expect(tus.patch(path, at: 70_000, Array(sample(200_000)[70_000...])) == nil)
    #expect(tus.offset(path) == 200_000)
    #expect(receiver.content("a") == sample(200_000))
    #expect(try receiver.events().commits.map(\.size) == [200_000])
  }

  @Test func aLostAnswerIsCarriedOut() throws {
    let (receiver, tus) = try scene("match PATCH * nth=1 : lose-answer")
    let path = tus.upload(2, name: "a")
    #expect(tus.patch(path, at: 0, [1, 2]) == nil)
    #expect(tus.offset(path) == 2)
    #expect(receiver.content("a") == [1, 2])
  }

  @Test func aForgottenUploadIsGone() throws {
    let (receiver, tus) = try scene("match HEAD * nth=2 : forget-session")
    let path = tus.upload(10)
    #expect(tus.head(path)?.status == 200)
    #expect(tus.head(path)?.status == 404)
    #expect(tus.patch(path, at: 0, [1])?.status == 404)
    #expect(receiver.staged == [])
    #expect(try receiver.events().kinds.contains("session tus forgotten"))
  }

  @Test func aServerCanFallBack() throws {
    let (receiver, tus) = try scene("match PATCH * nth=2 : wrong-offset=5\nmatch HEAD * nth=1 : wrong-offset=100")
    let path = tus.upload(20, name: "a")
    #expect(tus.patch(path, at: 0, Array(sample(20)[..<8]))?.fields["upload-offset"] == "8")
    #expect(tus.patch(path, at: 8, Array(sample(20)[8...]))?.fields["upload-offset"] == "15")
    #expect(tus.patch(path, at: 20, [])?.status == 409)
    #expect(tus.offset(path) == 0)
    #expect(tus.patch(path, at: 0, sample(20))?.status == 204)
    #expect(receiver.content("a") == sample(20))
    #expect(try receiver.events().contains { $0.kind == .commit(size: 20, crc32c: CRC32C.of(sample(20))) })
  }

  @Test func lies() throws {
    let (receiver, tus) = try scene(
      """
      match HEAD * nth=1 : offset-past-end
      match HEAD * nth=2 : html
      match POST * nth=2 : bad-location=ftp://elsewhere/x
      match PATCH * nth=1 : limit=3
      match PATCH * nth=2 : locked=2
      """)
    let path = tus.upload(10)
    #expect(tus.offset(path) == 11)
    #expect(tus.head(path)?.fields["content-type"] == "text/html; charset=utf-8")
    #expect(tus.create(10)?.fields["location"] == "ftp://elsewhere/x")
    #expect(tus.patch(path, at: 0, [1, 2, 3, 4])?.status == 413)
    #expect(tus.patch(path, at: 0, [1])?.status == 423)
    #expect(tus.patch(path, at: 0, [1])?.status == 423)
    #expect(tus.patch(path, at: 0, [1])?.status == 204)
    #expect(receiver.names() == [".transfers-receiver"])
  }

  /// A client that lost its connection asks on a new one while the server still waits on the old one.
  @Test(arguments: ["", "match PATCH * nth=1 : stall=100,30"])
  func aNewcomerEndsTheRunningRequest(script: String) throws {
    let (receiver, tus) = try scene(script)
    let path = tus.upload(1000, name: "a")
    let stuck = receiver.client()
    let head = "PATCH \(path) HTTP/1.1\r\nHost: t\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n"
    stuck.send(head + "\(TusClient.type)\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
    #expect(stuck.reply()?.status == 100)
    stuck.send(Array(sample(1000)[..<100]))
    // The new request can take over only after the bytes were read.
    let patience = monotonicNanoseconds() + 10_000_000_000
    while receiver.stagedBytes < 100, monotonicNanoseconds() < patience {}
    #expect(tus.offset(path) == 100)
    #expect(stuck.rest() == [])
    #expect(try receiver.events().kinds.contains("lost 0 superseded"))
    #expect(tus.patch(path, at: 100, Array(sample(1000)[100...]))?.status == 204)
    #expect(receiver.content("a") == sample(1000))
  }

  @Test func stopAndStartRemoveWhatIsAbandoned() throws {
    let (receiver, tus) = try scene()
    let path = tus.upload(10)
    _ = tus.patch(path, at: 0, [1])
    #expect(receiver.stagedBytes == 1)
    receiver.server.stop()
    #expect(receiver.staged == [])
  }

  @Test func discardedBodiesAreCounted() throws {
    let receiver = try ReceiverFixture { $0.discards = true }
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(10, name: "a")
    #expect(tus.patch(path, at: 0, sample(10))?.fields["upload-offset"] == "10")
    #expect(try receiver.events().commits.map(\.size) == [10])
  }

  @Test func credentialsAreDemandedHereToo() throws {
    let receiver = try ReceiverFixture { $0.bearerToken = "t" }
    #expect(TusClient(receiver: receiver).create(1)?.status == 401)
    #expect(TusClient(receiver: receiver).create(1, fields: ["Authorization: Bearer t"])?.status == 201)
    #expect(receiver.ask("GET", "/-/nothing")?.status == 404)
  }
}
