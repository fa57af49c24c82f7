import Testing
import TransferModel
import TransferProtocols
import Transfers

/// A profile says which answers mean that the server is still processing a file. Such an answer says nothing about its
/// host, whatever its status means elsewhere: the other files are sent meanwhile.
@Suite struct ProfilePollTests {
  private static let fileCount = 6

  /// A server that answers the first merge call with `status` and a pause of an hour, and a profile that polls then.
  private func run(_ status: Int) throws -> RunResult {
    let scene = try Scene(script: "match POST */merge* nth=1 : status=\(status) retry-after=3600\n")
    for n in 0..<Self.fileCount { try Scene.write([UInt8(n)], to: NameBytes("\(scene.root)/source/f\(n)")) }
    var settings = try ConformanceSubject.named("profile numbered-chunks").settings(url: scene.url)
    let text = try #require(settings.profile).text.replacing("[202]", with: "[202, \(status)]")
    settings.profile = ProfileSettings(name: "polled", text: text)
    let added = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    #expect(added.counts.added == Self.fileCount)
    return try scene.work(with: Interposed(), clock: MovableClock())
  }

  @Test(arguments: [503, 202, 404]) func aPollThatGoesOnIsNoPauseOfTheHost(_ status: Int) throws {
    let result = try run(status)
    #expect(result.done == Self.fileCount - 1 && result.left == 1 && result.failed == 0, "\(result)")
  }

  /// 429 is about the number of requests, also in a poll.
  @Test func tooManyRequestsAreAPauseOfTheHost() throws {
    let result = try run(429)
    #expect(result.done == 0 && result.left == Self.fileCount && result.failed == 0, "\(result)")
  }
}
