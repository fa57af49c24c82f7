import Receiver
import Testing
import TransferModel

/// A server that takes almost nothing of each body: the upload ends, with a cause.
@Suite struct TinyProgressTests {
  @Test(arguments: ["tus", "resumable"])
  func aByteOfEachBodyIsNoProgress(_ name: String) throws {
    let subject = try ConformanceSubject.named(name)
    // Forty bytes in all: without a limit, the upload would go on until it is done.
    let scene = try ConformanceScene(
      subject, size: 2 * subject.chunkSize, script: "match PATCH * times=40 : cut-after=1\n")
    try scene.add()
    try scene.run()
    #expect(try scene.states().first?.hasPrefix("failed") == true)
    let patches = try scene.record().filter { if case .start("PATCH", _) = $0.kind { true } else { false } }
    // Eight failures; a connection that was cut may have delivered a request twice.
    #expect(patches.count <= 18)
  }

  /// A file of seven ranges fails after 26 to 33 requests, by how many run beside each other. Without a limit it would
  /// take 400,000, and the host would soon be asked only every 15 seconds.
  private static let mostAsked = 40

  /// Ranges that are fetched in parallel: each byte resets the failure count of its range, not that of the file.
  @Test func aByteOfEachRangeIsNoProgress() throws {
    let (asked, stop) = (Lock(0), StopSignal())
    let server = try AnsweringServer { request in
      let number = asked.withLock { asked in
        asked += 1
        return asked
      }
      // Without a limit, the download would go on until it is done.
      if number > Self.mostAsked { stop.stopNow() }
      let ends = (request.fields["range"] ?? "bytes=0-").dropFirst(6).split(separator: "-").compactMap { Int($0) }
      return AnsweringScene.answer(
        "206 Partial Content", ["Content-Range: bytes \(ends[0])-\(ends[0])/400000", "ETag: \"v1\""], body: "x")
    }
    let scene = try AnsweringScene()
    try scene.pull("f", from: server, partSize: 64 << 10, until: stop)
    #expect(try scene.states() == ["failed proto.bad_reply"])
    #expect(server.count("GET") <= Self.mostAsked)
  }

  /// The same with a server that recovers after a while. An upload that the server reports as empty is replaced by a
  /// new one, which is not counted as a failure in addition to that of the body: five cuts count as five of eight.
  @Test(arguments: ["tus", "resumable"])
  func aServerThatRecoversGetsTheRest(_ name: String) throws {
    let subject = try ConformanceSubject.named(name)
    let scene = try ConformanceScene(
      subject, size: 4 * subject.chunkSize, script: "match PATCH * times=5 : cut-after=1\n")
    try scene.add()
    try scene.run()
    let complaint = try scene.complaint()
    #expect(complaint == nil)
  }
}
