import Glibc
import Testing

@testable import TransfersCLI

/// Objects that were uploaded in parts: what the server is asked, and which ranges it sends.
@Suite struct PullPartsTests {
  private static let mib = 1 << 20

  private struct Scene {
    let program: BuiltProgram
    let receiver: RunningReceiver
    let object: [UInt8]

    init(_ script: String, size: Int) throws {
      program = try BuiltProgram()
      receiver = try RunningReceiver(in: program.folder, script: script, isRecorded: true)
      mkdir(receiver.root + "/bucket", 0o700)
      mkdir(program.folder.path + "/in", 0o700)
      // Each KiB is different.
      var bytes: [UInt8] = []
      for n in 0..<(size / 1_024) { bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: n ^ n >> 8), count: 1_024) }
      object = bytes + [UInt8](repeating: 7, count: size % 1_024)
      try writeFile(receiver.root + "/bucket/o", object)
    }

    private var arguments: [String] {
      ["pull", "--store", program.folder.path + "/l.db", "s3://bucket/o", program.folder.path + "/in"]
    }
    private var environment: [String: String] {
      [
        "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "canary-parts", "AWS_ENDPOINT_URL": receiver.url,
      ]
    }

    func pull(_ options: [String] = []) throws -> BuiltProgram.Outcome {
      try program.run((arguments + options).map { Array($0.utf8) }, environment: environment)
    }

    /// Kills a pull when the server holds its question.
    func kill() throws {
      let running = try program.start(arguments, environment: environment)
      try receiver.waitUntilHeld("asked")
      running.signal(SIGKILL)
      _ = try running.wait()
      try receiver.release("asked")
    }

    func came() throws -> [UInt8] { try readBytes(program.folder.path + "/in/o") }

    private func events(_ kind: String) throws -> [Substring] {
      try readText(program.folder.path + "/record").split(separator: "\n").filter { $0.contains("\"t\":\"\(kind)\"") }
    }

    /// How many HEAD requests arrived.
    func questions() throws -> Int { try events("start").count { $0.contains("\"method\":\"HEAD\"") } }

    /// Where the ranges that the server sent begin, in MiB.
    func borders() throws -> [Double] {
      try events("content").compactMap { event in
        let offset = event.split(separator: ",").first { $0.hasPrefix("\"offset\":") }
        return offset.flatMap { Double($0.dropFirst(9)) }.map { $0 / Double(PullPartsTests.mib) }
      }.sorted()
    }
  }

  /// One question, and every chunk begins where a part does, or at an equal fraction of one.
  @Test(
    arguments: [
      // The last part is shorter.
      (5, [], [0, 1, 5, 10]),
      // Several parts a chunk.
      (3, [], [0, 1, 3, 6, 9, 12]), (1, ["--part-size", "3M"], [0, 1, 3, 6, 9, 12]),
      // Half a part.
      (6, ["--part-size", "4M"], [0, 1, 3, 6, 9, 12]),
    ] as [(Int, [String], [Double])])
  func chunksBeginWithParts(_ part: Int, _ options: [String], _ borders: [Double]) throws {
    let scene = try Scene("match * * : parts=\(part * Self.mib)\n", size: 13 * Self.mib + 100)
    let outcome = try scene.pull(options)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try scene.came() == scene.object)
    #expect(try scene.questions() == 1)
    #expect(try scene.borders() == borders)
    let check = try scene.program.run("store", "check", "--store", scene.program.folder.path + "/l.db")
    #expect(check.code == 0, "\(check.out)")
  }

  /// Small objects, and those that were uploaded by one request, take no further request.
  @Test(arguments: [("match * * : parts=100000\n", 300_000), ("", 9 << 20)])
  func othersAreNotAskedAbout(_ script: String, _ size: Int) throws {
    let scene = try Scene(script, size: size)
    let outcome = try scene.pull()
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try scene.came() == scene.object)
    #expect(try scene.questions() == 0)
  }

  /// Whatever the server does with the question, the object arrives in ranges of the usual length.
  @Test(arguments: ["status=501", "status=403", "status=503", "field=\"x-amz-mp-parts-count: 2\"", "lose-answer"])
  func aRefusalCostsItsRequest(_ action: String) throws {
    let script = "match HEAD * : \(action)\nmatch * * : parts=\(5 << 20)\n"
    let scene = try Scene(script, size: 13 * Self.mib)
    let outcome = try scene.pull()
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try scene.came() == scene.object)
    #expect(try scene.questions() == 1)
    #expect(try scene.borders() == [0, 1, 4, 8, 12])
  }

  // MARK: - Checksums of the parts

  private func confirmation(_ scene: Scene) throws -> String {
    let store = scene.program.folder.path + "/l.db"
    return try scene.program.run(
      "store", "sql", "SELECT confirmation FROM receipt", "--format", "csv", "--store", store
    )
    .out
  }

  /// The server has only a checksum of the checksums of the parts.
  @Test(arguments: ["", "wrong-byte=6000000", "wrong-digest"])
  func theFileIsComparedWithThoseOfItsParts(_ fault: String) throws {
    let scene = try Scene("match * * : parts=\(5 << 20) omit=Repr-Digest \(fault)\n", size: 13 * Self.mib + 100)
    let outcome = try scene.pull()
    guard fault.isEmpty else {
      #expect(outcome.code != 0 && outcome.err.contains("the digests of its parts"), "\(outcome.err)")
      return #expect(access(scene.program.folder.path + "/in/o", F_OK) != 0)
    }
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try scene.came() == scene.object)
    #expect(try confirmation(scene).contains("digest"))
  }

  /// The fifth GET asks for the list.
  @Test func withoutTheListTheLengthIsTheProof() throws {
    let parts = "parts=\(5 << 20) omit=Repr-Digest"
    let scene = try Scene("match GET * nth=5 : status=403 \(parts)\nmatch * * : \(parts)\n", size: 13 * Self.mib)
    let outcome = try scene.pull()
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try scene.borders() == [0, 1, 5, 10])
    #expect(try confirmation(scene).contains("size"))
  }

  /// A run that is killed before the answer asks in its next run, and keeps the beginning.
  @Test func theQuestionIsAskedAgainAfterAKill() throws {
    let scene = try Scene(
      "match HEAD * nth=1 : hold=asked parts=\(5 << 20)\nmatch * * : parts=\(5 << 20)\n", size: 13 * Self.mib)
    try scene.kill()
    let outcome = try scene.pull()
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try scene.came() == scene.object)
    #expect(try scene.questions() == 2)
    #expect(try scene.borders() == [0, 1, 5, 10])
  }
}
