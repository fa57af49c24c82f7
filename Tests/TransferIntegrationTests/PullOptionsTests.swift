import Receiver
import Testing
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// The options of a download, judged by the requests that the receiver gets and by what is on the disk.
@Suite struct PullOptionsTests: PullScenes {
  private func pull(_ scene: Scene, _ change: (inout DownloadOptions) -> Void) throws -> RunResult {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(urls: [scene.url + "/up/o0"], folder: NameBytes("\(scene.root)/in"))
    change(&options)
    _ = try TransferStore(at: scene.storePath).add(options)
    return try scene.run()
  }

  private func status(_ scene: Scene) -> stat {
    var status = stat()
    #expect(stat("\(scene.root)/in/o0", &status) == 0)
    return status
  }

  /// The first request fetches the first of nine ranges; then as many are requested at a time as the option says.
  @Test(arguments: [1, 2, 7]) func soManyRangesComeAtATime(_ segments: Int) throws {
    let scene = try Scene(script: "match GET * nth=2 times=99 : hold=ranges\n")
    let objects = try objects(scene, [9 << 16])
    let release = scene.whenHeld("ranges", count: segments) { [server = scene.server] in server.release("ranges") }
    let result = try pull(scene) {
      $0.segments = segments
      $0.options["part-size"] = .number(64 << 10)
    }
    release.join()
    #expect(result.done == 1, "\(result)")
    try expectSame(scene, objects)
    #expect(try scene.mostAtOnce("up") == segments)
  }

  /// The file is cut into more ranges than usual, which are shorter.
  @Test func aFileIsCutForItsSegments() throws {
    let scene = try Scene()
    let objects = try objects(scene, [6 << 20])
    #expect(try pull(scene) { $0.segments = 3 }.done == 1)
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0").map(\.end).sorted() == [1 << 20, 2 << 20, 4 << 20, 6 << 20])
  }

  @Test(arguments: [false, true]) func theTimeOfTheServerIsKeptUnlessNot(_ keepsTime: Bool) throws {
    let scene = try Scene()
    _ = try objects(scene, [10])
    var times = [timeval(tv_sec: 784_111_777, tv_usec: 0), timeval(tv_sec: 784_111_777, tv_usec: 0)]
    utimes("\(scene.root)/kept/up/o0", &times)
    #expect(try pull(scene) { $0.keepsTime = keepsTime }.done == 1)
    #expect((status(scene).st_mtim.tv_sec == 784_111_777) == keepsTime)
  }

  /// Even with a body that breaks off in the middle of zeros, and with one of unknown length.
  @Test(arguments: [
    "", "match GET * nth=2 times=4 : cut-after=30001\n", "match * * : ignore-range no-length\n",
    "match * * : ignore-range chunked\n",
  ])
  func zerosBecomeHolesWhenAsked(_ script: String) throws {
    let size = 2 << 20
    for isSparse in [true, false] {
      let scene = try Scene(script: script)
      var bytes = [UInt8](repeating: 0, count: size)
      for n in 300_000..<310_000 { bytes[n] = UInt8(truncatingIfNeeded: n | 1) }
      mkdir("\(scene.root)/kept/up", 0o700)
      try Scene.write(bytes, to: NameBytes("\(scene.root)/kept/up/o0"))
      let result = try pull(scene) {
        $0.isSparse = isSparse
        $0.options["part-size"] = .number(256 << 10)
      }
      #expect(result.done == 1, "\(result)")
      try expectSame(scene, ["o0": bytes])
      #expect(try confirmation(scene) == "digest")
      #expect((Int(status(scene).st_blocks) * 512 <= 64 << 10) == isSparse, "\(status(scene).st_blocks)")
    }
  }
}
