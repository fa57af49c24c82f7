import Testing
import TransferLedger
import TransferModel

@testable import TransferEngine
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// Copies of sources, which are sent in their place.
@Suite struct StagingTests {
  private func staged(_ scene: Scene, script: String = "") throws -> AddResult {
    let settings = BatchSettings(destination: "\(scene.url)/up/", stage: true)
    let options = UploadOptions(settings: settings)
    return try TransferStore(at: scene.storePath).add([NameBytes("\(scene.root)/source")], options, notice: { _ in })
  }

  private func copies(_ scene: Scene) -> [String] {
    guard let directory = opendir(scene.storePath + ".staged") else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }

  private func write<Result: Sendable>(
    _ scene: Scene, _ body: @escaping @Sendable (LedgerTransaction) throws -> Result
  ) throws -> Result {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: MovableClock())
    defer { ledger.close() }
    return try ledger.write(body)
  }

  @Test func whatWasAddedIsSentWhateverBecomesOfTheSource() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 3, count: 8)
    #expect(try staged(scene).counts.added == files.count)
    #expect(copies(scene).count == files.count)
    for (n, name) in files.keys.enumerated() {
      let path = NameBytes("\(scene.root)/source").appending(name)
      if n % 2 == 0 { try Scene.write([1, 2, 3], to: path) } else { path.withPath { _ = unlink($0) } }
    }
    #expect(try scene.run().done == files.count)
    try scene.expectSameBytes(files)
    #expect(copies(scene).isEmpty)
  }

  /// Files of `/proc` have content, but the kernel says that they are empty.
  @Test(arguments: [true, false]) func aFileWithMoreBytesThanItsSizeIsNotSent(_ stages: Bool) throws {
    let scene = try Scene()
    let settings = BatchSettings(destination: "\(scene.url)/up/", stage: stages)
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("/proc/version")], UploadOptions(settings: settings), notice: { _ in })
    let result = try scene.run()
    #expect(result.done == 0)
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: MovableClock())
    defer { ledger.close() }
    let files = try ledger.read { try $0.files(RowFilter(), after: 0, limit: 2) }
    let causes = files.map { "\($0.state) \($0.cause ?? "")" }
    #expect(causes == ["failed source.kind"], "\(causes)")
  }

  @Test func theSameTreeAgainIsUnchangedAndCopiesNothing() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 4, count: 4)
    _ = try staged(scene)
    #expect(try staged(scene).counts.queued == files.count)
    #expect(copies(scene).count == files.count)
    _ = try scene.run()
    #expect(try staged(scene).counts.unchanged == files.count)
    #expect(copies(scene).isEmpty)
  }

  @Test func anAddThatWasCutOffIsCompletedByTheNextRun() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 5, count: 3)
    _ = try staged(scene)
    // The state after a crash between the record and the copy, with an unknown copy.
    try write(scene) { tx in
      _ = try tx.control(.cancel, RowFilter())
      _ = try tx.control(.retry(startsOver: true), RowFilter())
    }
    try Scene.write([9], to: NameBytes("\(scene.storePath).staged/0123456789abcdef0123456789abcdef"))
    #expect(try scene.run().done == files.count)
    try scene.expectSameBytes(files)
    #expect(copies(scene).isEmpty)
  }

  /// Only half a megabyte may be used, because 1 MiB stays free. The long file is not copied at all, also not in part.
  @Test func aCopyThatDoesNotFitIsNotBegun() throws {
    let scene = try Scene()
    let (long, short) = ([UInt8](repeating: 7, count: 600_000), [UInt8](repeating: 8, count: 10))
    try Scene.write(long, to: NameBytes("\(scene.root)/source/a-long"))
    try Scene.write(short, to: NameBytes("\(scene.root)/source/short"))
    // The files are recorded, and their folder cannot be used.
    try Scene.write([], to: NameBytes(scene.storePath + ".staged"))
    #expect(throws: TransferError.self) { try staged(scene) }
    unlink(scene.storePath + ".staged")
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: MovableClock())
    let told = Lock<[Notice]>([])
    let waiting = try StagedCopies(storePath: scene.storePath) { _ in (1 << 20) + (512 << 10) }
      .settle(ledger) { notice in told.withLock { $0.append(notice) } }
    #expect(waiting.count == 1)
    try expectCauses([long.count], ledger)
    ledger.close()
    let failures = told.withLock(\.self).map { if case .failed(_, let failure) = $0 { failure.message } else { "" } }
    #expect(failures.count == 1 && failures[0].hasPrefix("the copy takes 600000 bytes, and 1048576 must stay free"))
    let sizes = try copies(scene).map { try Scene.read(NameBytes("\(scene.storePath).staged/\($0)")).count }
    #expect(sizes == [10])
    // The next run finds room.
    #expect(try scene.run().done == 2)
    let later = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: MovableClock())
    try expectCauses([], later)
    later.close()
    #expect(try scene.kept("up/a-long") == long && scene.kept("up/short") == short)
  }

  /// The causes that are shown for files which wait for space: of the whole ledger, of a batch, and of a run.
  private func expectCauses(_ sizes: [Int], _ ledger: Ledger) throws {
    var (ofBatch, ofRun) = (RowFilter(), RowFilter())
    ofBatch.withinBatches = [1]
    (ofRun.withinBatches, ofRun.finishedSinceMs) = ([1], .max)
    let (all, groups, states) = try ledger.read { reader in
      (
        try [RowFilter(), ofBatch, ofRun].map { try reader.failures($0) } + [try reader.endings(RowFilter())],
        try reader.failures(RowFilter(), by: [.code]), try reader.files(RowFilter(), after: 0, limit: 9)
      )
    }
    for rows in all {
      #expect(rows.map(\.code) == sizes.map { _ in "local.disk_full" } && rows.allSatisfy { $0.files == 1 })
      let messages = zip(rows.compactMap(\.exampleMessage), sizes)
      #expect(messages.allSatisfy { $0.hasPrefix("the copy takes \($1) bytes, and ") })
      #expect(rows.allSatisfy { $0.examplePath?.description.hasSuffix("/a-long") == true && !$0.hint.isEmpty })
    }
    #expect(groups.map(\.files) == sizes.map { _ in 1 })
    let waiting = states.filter { $0.cause != nil || $0.message != nil }
    #expect(waiting.map { [$0.state, $0.cause] } == sizes.map { _ in ["settling", "local.disk_full"] })
  }

  /// Signals may not end the process any more: the run has a row, but its engine does not work yet.
  @Test func aRunThatStillCopiesIsDrained() throws {
    let scene = try Scene()
    for name in ["a", "b", "c"] { try Scene.write([1], to: NameBytes("\(scene.root)/source/\(name)")) }
    try Scene.write([], to: NameBytes(scene.storePath + ".staged"))
    #expect(throws: TransferError.self) { try staged(scene) }
    unlink(scene.storePath + ".staged")
    unlink("\(scene.root)/source/a")
    let (stop, heard) = (StopSignal(), Lock<[Bool]>([]))
    let result = try TransferStore(at: scene.storePath).run(
      RunOptions(argv: ["test"]), progress: nil,
      notice: { notice in
        guard case .failed = notice else { return }
        heard.withLock { $0.append(stop.isHeard) }
        stop.drain()
      }, stop: stop)
    #expect(heard.withLock(\.self) == [true])
    #expect(result.stoppedBy == .drained)
    #expect(try copies(scene).isEmpty && scene.commits().isEmpty)
    let store = try OpenStore(at: scene.storePath, .existing)
    #expect(try store.read { try $0.engine(SystemClock()).run?.how } == "drained")
    store.close()
    let next = try scene.run()
    #expect((next.done, next.failed) == (2, 1))
  }

  /// The range does not begin with the file, so that no file system shares its blocks.
  @Test func aLongCopyEndsSoonAfterAStop() throws {
    let scene = try Scene()
    let source = open("\(scene.root)/source/long", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(source) }
    #expect(ftruncate(source, 64 << 20) == 0)
    let (copies, polls) = (StagedCopies(storePath: scene.storePath), Lock(0))
    try copies.makeFolder()
    let stop = ReadStop {
      polls.withLock { polls in
        polls += 1
        return polls > 1
      }
    }
    let failure = #expect(throws: Failure.self) {
      try copies.make("copy", mtimeNs: 0, from: source, ByteRange(offset: 1, length: 63 << 20), stop)
    }
    #expect(failure?.code == .engineInterrupted)
    #expect(try Scene.read(copies.path("copy")).count == 16 << 20)
  }

  @Test func aCancelledFileLeavesNoCopy() throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 6, count: 3)
    _ = try staged(scene)
    try write(scene) { _ = try $0.control(.cancel, RowFilter()) }
    let store = try OpenStore(at: scene.storePath, .existing)
    defer { store.close() }
    try store.sweepCopies()
    #expect(copies(scene).isEmpty)
  }

  @Test func aCopyThatWasTamperedWithIsNotSent() throws {
    let scene = try Scene()
    try Scene.write([1, 2, 3], to: NameBytes("\(scene.root)/source/a"))
    _ = try staged(scene)
    let copy = try #require(copies(scene).first)
    try Scene.write([4, 5, 6], to: NameBytes("\(scene.storePath).staged/\(copy)"))
    #expect(try scene.run().failed == 1)
    #expect(try scene.commits().isEmpty)
  }
}
