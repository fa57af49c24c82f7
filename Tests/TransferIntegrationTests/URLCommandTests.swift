import Receiver
import Testing
import TransferEngine
import TransferModel

@testable import TransferLedger
@testable import TransferProtocols
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Files whose URLs a program gives: judged by the queries to the program, the requests to the receiver, and the
/// ledger.
@Suite struct URLCommandTests: PullScenes {
  private static let secret = "sig0123456789abcdef"

  /// A program that records each key and answers with the output of `answer`.
  private func command(_ scene: Scene, _ answer: String) throws -> [String] {
    let script =
      "#!/bin/sh\nread -r key\necho \"$key\" >> \(scene.root)/asked\nn=$(wc -l < \(scene.root)/asked)\n\(answer)\n"
    try Scene.write(Array(script.utf8), to: NameBytes("\(scene.root)/sign"))
    chmod("\(scene.root)/sign", 0o700)
    return ["\(scene.root)/sign"]
  }

  private func signed(_ scene: Scene) -> String { "echo \"\(scene.url)/up/o0?sig=\(Self.secret)-$n\"" }

  private func asked(_ scene: Scene) throws -> [String] {
    String(decoding: try Scene.read(NameBytes("\(scene.root)/asked")), as: UTF8.self).split(separator: "\n").map(
      String.init)
  }

  private func add(_ scene: Scene, _ command: [String]) throws {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(urls: ["data/a b"], folder: NameBytes("\(scene.root)/in"))
    options.baseURL = scene.url + "/x/"
    options.options["part-size"] = .number(64 << 10)
    options.urlCommand = command
    _ = try TransferStore(at: scene.storePath).add(options)
  }

  private func expectWhole(_ scene: Scene, _ bytes: [UInt8]?) throws {
    #expect(try Scene.read(NameBytes("\(scene.root)/in/data/a b")) == bytes)
    #expect(try Scene.names(in: "\(scene.root)/in/data", hidden: true) == ["a b"])
    for name in try Scene.names(in: scene.root) where name.hasPrefix("ledger.db") {
      let bytes = try Scene.read(NameBytes("\(scene.root)/\(name)"))
      #expect(bytes.firstRange(of: Array(Self.secret.utf8)) == nil, "\(name)")
    }
  }

  /// One URL serves all requests of a file as long as it works.
  @Test func theFileIsFetchedFromTheURLOfItsKey() throws {
    let scene = try Scene()
    let objects = try objects(scene, [400_000])
    try add(scene, try command(scene, signed(scene)))
    #expect(try scene.run().done == 1)
    try expectWhole(scene, objects["o0"])
    #expect(try asked(scene) == ["x/data/a%20b"])
    #expect(try ranges(scene, "o0").count == 7)
  }

  /// A refusal in the middle: the bytes are kept, and another URL is requested. An answer that quotes its request is
  /// not kept.
  @Test(arguments: [400, 401, 403, 410]) func aURLThatIsRefusedIsReplaced(_ status: Int) throws {
    let scene = try Scene(script: "match GET /up/o0 nth=3 times=1 : status=\(status)\n")
    let objects = try objects(scene, [400_000])
    try add(scene, try command(scene, signed(scene)))
    let result = try scene.run()
    #expect(result.done == 1 && result.failed == 0, "\(result)")
    try expectWhole(scene, objects["o0"])
    #expect(try (2...4).contains(asked(scene).count))
    #expect(try ranges(scene, "o0").reduce(0) { $0 + $1.length } == 400_000)
  }

  /// Requests that wait for a connection meanwhile never go to the URL of the file, which is not signed.
  @Test func requestsThatWaitForAConnectionAskForAnotherURLToo() throws {
    let scene = try Scene(script: "match GET /up/o0 nth=3 times=1 : status=403\n")
    let objects = try objects(scene, [400_000])
    try add(scene, try command(scene, signed(scene)))
    let result = try Scene.run(scene.storePath, workers: 1)
    #expect(result.done == 1 && result.failed == 0, "\(result)")
    try expectWhole(scene, objects["o0"])
  }

  /// The signing program may lack credentials for a while: no file fails because of that.
  @Test(arguments: [400, 401, 403, 410]) func aURLThatIsRefusedTwiceIsTriedLater(_ status: Int) throws {
    let scene = try Scene(script: "match GET /up/o0 nth=3 times=3 : status=\(status)\n")
    let objects = try objects(scene, [400_000])
    try add(scene, try command(scene, signed(scene)))
    let result = try Scene.run(scene.storePath, workers: 1)
    #expect(result.done == 1 && result.failed == 0, "\(result)")
    try expectWhole(scene, objects["o0"])
  }

  /// The URL says when it expires, so nobody has to try it.
  @Test func aURLWhoseTimeIsOverIsReplacedUnasked() throws {
    let scene = try Scene()
    let objects = try objects(scene, [200_000])
    try add(scene, try command(scene, "echo \"\(scene.url)/up/o0?Expires=1000&sig=$n\""))
    #expect(try scene.run().done == 1)
    try expectWhole(scene, objects["o0"])
    #expect(try asked(scene).count >= 2)
    #expect(try requests(scene) == 4)
  }

  /// Without a URL the file waits for the next run and keeps what it has; the others continue.
  @Test(arguments: [
    "exit 3", "", "echo http://a; echo http://b", "echo /relative", "echo ftp://h/a", "kill -9 $$",
  ])
  func aFileWithoutAURLWaitsForTheNextRun(_ answer: String) throws {
    let scene = try Scene(script: "match GET /up/o0 nth=4 times=1 : status=403\n")
    let objects = try objects(scene, [400_000])
    try add(
      scene, try command(scene, "if [ $n = 1 ]; then \(signed(scene)); else \(answer.isEmpty ? ":" : answer); fi"))
    let result = try scene.run()
    #expect(result.done == 0 && result.failed == 0 && result.left == 1, "\(result)")
    #expect(result.stoppedBy == .notDue && result.retries == 0 && result.waiting.count == 1)
    #expect(try cause(scene) == "auth.needs_url")
    let before = try ranges(scene, "o0").reduce(0) { $0 + $1.length }
    #expect(before >= 65_536)
    _ = try command(scene, signed(scene))
    #expect(try scene.run().done == 1)
    try expectWhole(scene, objects["o0"])
    #expect(try ranges(scene, "o0").reduce(0) { $0 + $1.length } == 400_000)
  }

  /// Another version behind another URL is not mixed with the first.
  @Test func theVersionIsTheSameWhateverTheURL() throws {
    let scene = try Scene(script: "match GET /up/o0 nth=3 times=1 : status=403\n")
    let objects = try objects(scene, [400_000, 400_000])
    try add(scene, try command(scene, "echo \"\(scene.url)/up/o$((n > 1))?sig=\(Self.secret)\""))
    #expect(try scene.run().done == 1)
    try expectWhole(scene, objects["o1"])
  }

  /// Pausing or cancelling the file, or stopping the run, does not wait for the program.
  @Test(arguments: ["pause", "cancel", "stop"]) func aCommandThatHangsHoldsUpNobody(_ how: String) throws {
    let scene = try Scene()
    try add(scene, try command(scene, "sleep 1000"))
    let stop = Scene.Stop()
    let engine = try RunningEngine(scene, stop: stop)
    while access("\(scene.root)/asked", F_OK) != 0 { usleep(1_000) }
    switch how {
    case "pause": _ = try engine.control(.pause(now: true))
    case "cancel": _ = try engine.control(.cancel)
    default: stop.drain()
    }
    let result = try engine.end()
    #expect(result.wallMs < 30_000 && result.failed == 0, "\(result)")
    let states = ["pause": "paused", "cancel": "cancelled policy.cancelled", "stop": "pending"]
    let state = try engine.states().first ?? ""
    #expect(state.hasPrefix(states[how] ?? "none"), "\(state)")
  }

  /// A program that hangs is killed, with the processes that it started.
  @Test func aCommandThatHangsIsEnded() throws {
    let scene = try Scene()
    let words = try command(scene, "sleep 1000 & echo $! > \(scene.root)/child; wait")
    let origin = try #require(WebOrigin(url: scene.url))
    let hanging = URLCommand(arguments: words, origin: origin, limitMs: 300)
    #expect { try hanging.url(for: NameBytes("a"), isOver: { false }) } throws: {
      ($0 as? Failure)?.code == .authNeedsURL
    }
    // Its time limit is not waited for again, file by file.
    #expect { try hanging.url(for: NameBytes("b"), isOver: { false }) } throws: {
      ($0 as? Failure)?.code == .authNeedsURL
    }
    #expect(try asked(scene) == ["a"])
    unlink("\(scene.root)/child")
    let patient = URLCommand(arguments: words, origin: origin)
    let isStarted: @Sendable () -> Bool = { [root = scene.root] in access("\(root)/child", F_OK) == 0 }
    #expect { try patient.url(for: NameBytes("a"), isOver: isStarted) } throws: {
      ($0 as? Failure)?.code == .engineInterrupted
    }
    let child = String(decoding: try Scene.read(NameBytes("\(scene.root)/child")), as: UTF8.self)
    let pid = try #require(pid_t(child.filter(\.isNumber)))
    // Until the process that inherited it has reaped it.
    while kill(pid, 0) == 0, !isZombie(pid) { usleep(1_000) }
  }

  private func isZombie(_ pid: pid_t) -> Bool {
    let descriptor = open("/proc/\(pid)/stat", O_RDONLY)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    var line = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &line, line.count)
    return count <= 0 || String(decoding: line[..<count], as: UTF8.self).contains(") Z ")
  }
}
