import Receiver
import Testing
import TransferModel
import Transfers

/// The requests that `--dry-run` predicts are those that the receiver counts.
@Suite struct PlanTests {
  /// Servers that support less than the protocol uses get fewer requests.
  private static let plain = ["tus without checksums", "resumable, one request"]

  @Test(arguments: ConformanceSubject.all) func theRequestsThatArePlannedAreMade(subject: ConformanceSubject) throws {
    let chunk = subject.chunkSize
    for size in [0, 2, chunk, 3 * chunk + 5] where size >= subject.smallestSize {
      // After this upload the folders exist on the server.
      let scene = try ConformanceScene(subject, size: 1)
      try scene.add()
      try scene.run()
      let before = try scene.requestCount
      try scene.write(size: size, seed: 2)
      let planned = try scene.plan()
      #expect(planned.counts.changed == 1)
      try scene.add()
      try scene.run()
      #expect(try scene.states() == ["done", "done"])
      let made = try scene.requestCount - before
      let isMet = Self.plain.contains(subject.name) ? made <= planned.requests : made == planned.requests
      #expect(isMet, "\(size) bytes: \(made) requests, and \(planned.requests) were planned")
    }
  }
}
