import Receiver
import Testing
import TransferModel
import TransferTestSupport
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// WebDAV into collections that are missing, judged by what the receiver got.
@Suite struct CollectionTests {
  private struct Traffic {
    var puts = 0
    var refusedPuts = 0
    /// The statuses of the answers to MKCOL, by path.
    var made: [String: [Int]] = [:]
    var makes: Int { made.values.reduce(0) { $0 + $1.count } }
  }

  private static let workers = 4

  private func scene(_ script: String = "") throws -> Scene { try Scene(script: script, strictParents: true) }

  private func fill(_ scene: Scene, _ folder: String, count: Int, prefix: String = "f") throws {
    var path = "\(scene.root)/source"
    for component in folder.split(separator: "/") {
      path += "/\(component)"
      mkdir(path, 0o700)
    }
    for n in 0..<count {
      try Scene.write(noise(100 + n, seed: UInt64(n)), to: NameBytes("\(path)/\(prefix)\(n)"))
    }
  }

  private func push(
    _ scene: Scene, scheme: String = "dav+", to place: String = "/up/", workers: Int = CollectionTests.workers
  ) throws -> RunResult {
    _ = try scene.add(to: place, scheme: scheme)
    return try Scene.run(scene.storePath, workers: workers)
  }

  /// What the receiver got after the first `skipping` events of its record.
  private func traffic(_ scene: Scene, skipping: Int = 0) throws -> Traffic {
    var (traffic, methods) = (Traffic(), [Int64: String]())
    for event in try events(scene).dropFirst(skipping) {
      switch event.kind {
      case .start(let method, _):
        methods[event.request] = method
        if method == "PUT" { traffic.puts += 1 }
      case .answer(let status):
        switch methods[event.request] {
        case "PUT" where status == 409: traffic.refusedPuts += 1
        case "MKCOL": traffic.made[event.path.description, default: []].append(status)
        default: break
        }
      default: break
      }
    }
    return traffic
  }

  private func events(_ scene: Scene) throws -> [ReceiverEvent] {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson")
  }

  private static let folders = (0..<4).flatMap { ["d\($0)", "d\($0)/x", "d\($0)/x/y"] }

  private func expectAllKept(_ scene: Scene, _ folder: String, count: Int) throws {
    for n in 0..<count {
      let kept = try Scene.read(NameBytes("\(scene.root)/kept/\(folder)/f\(n)"))
      #expect(areSame(kept, noise(100 + n, seed: UInt64(n))), "\(folder)/f\(n)")
    }
  }

  /// Each collection is created once, and no more bodies are refused than requests run before the first answer.
  @Test func aNewTreeCostsOneRequestPerFolder() throws {
    let scene = try scene()
    for folder in Self.folders { try fill(scene, folder, count: 15) }
    let result = try push(scene)
    #expect(result.done == 15 * Self.folders.count && result.failed == 0)
    for folder in Self.folders { try expectAllKept(scene, "up/\(folder)", count: 15) }
    let traffic = try traffic(scene)
    #expect(traffic.made.count == Self.folders.count + 1, "and the one of the destination")
    #expect(traffic.makes <= Self.folders.count + 1 + Self.workers, "\(traffic.made)")
    #expect(traffic.refusedPuts <= Self.folders.count + Self.workers)
    #expect(traffic.puts == 15 * Self.folders.count + traffic.refusedPuts)
  }

  @Test func collectionsThatExistCostNothing() throws {
    let scene = try scene()
    for folder in Self.folders { try fill(scene, folder, count: 2) }
    _ = try push(scene)
    let before = try events(scene).count
    for folder in Self.folders { try fill(scene, folder, count: 5, prefix: "later") }
    #expect(try push(scene).done == 5 * Self.folders.count)
    let second = try traffic(scene, skipping: before)
    #expect(second.puts == 5 * Self.folders.count && second.refusedPuts == 0 && second.makes == 0)
    try fill(scene, "d0/new", count: 30)
    let beforeThird = try events(scene).count
    #expect(try push(scene).done == 30)
    let third = try traffic(scene, skipping: beforeThird)
    #expect(third.refusedPuts <= Self.workers)
    #expect(third.made.count <= 3 && third.makes <= 3 + Self.workers, "\(third.made)")
    try expectAllKept(scene, "up/d0/new", count: 30)
  }

  /// The folder is removed while a request for it is held: its levels are created again, once.
  @Test func aCollectionThatVanishesIsCreatedAgain() throws {
    let scene = try scene("match PUT * nth=3 : hold=gone\n")
    mkdir("\(scene.root)/kept/up", 0o755)
    mkdir("\(scene.root)/kept/up/d", 0o755)
    try fill(scene, "d", count: 8)
    let removing = scene.whenHeld("gone") { [root = scene.root, server = scene.server] in
      removeTree("\(root)/kept/up/d")
      server.release("gone")
    }
    let result = try push(scene, workers: 1)
    removing.join()
    #expect(result.done == 8 && result.failed == 0)
    let traffic = try traffic(scene)
    #expect(traffic.made.values.sorted { $0[0] < $1[0] } == [[201], [405]], "\(traffic.made)")
    #expect((1...2).contains(traffic.refusedPuts))
    #expect(traffic.puts == 8 + traffic.refusedPuts)
    #expect(try Scene.names(in: "\(scene.root)/kept/up/d").count == 6, "two were stored before")
  }

  /// The file that creates a collection fails: the others do not wait for it, and nothing is repeated without end.
  @Test func aServerThatCreatesNothingEndsTheRun() throws {
    let scene = try scene("match MKCOL * : status=409\n")
    try fill(scene, "d", count: 12)
    let result = try push(scene)
    #expect(result.failed == 12 && result.done == 0)
    let traffic = try traffic(scene)
    #expect(traffic.puts <= 2 * 12 && traffic.makes <= 12)
  }

  /// The collection of the temporary objects is the same.
  @Test func davPatchCreatesEachCollectionOnce() throws {
    let scene = try scene()
    let folders = Self.folders.prefix(6)
    for folder in folders { try fill(scene, folder, count: 6) }
    let result = try push(scene, scheme: "davpatch+", to: "/-/davpatch/up/")
    #expect(result.done == 6 * folders.count && result.failed == 0)
    for folder in folders { try expectAllKept(scene, "up/\(folder)", count: 6) }
    let traffic = try traffic(scene)
    #expect(traffic.refusedPuts <= folders.count + Self.workers)
    #expect(traffic.makes <= folders.count + 3 + Self.workers, "\(traffic.made)")
  }
}
