import Testing
import TransferModel
import Transfers

/// A program opens a merged store like any other; it can read everything in it, and change nothing.
@Suite struct ClientMergedTests {
  private let scene: Scene
  private let merged: String

  /// Two stores with three and two files that were sent, merged.
  init() async throws {
    scene = try Scene()
    merged = "\(scene.root)/merged.db"
    _ = try scene.makeTree(seed: 7, count: 3)
    let client = try await TransferClient.open(scene.storePath)
    _ = try await client.add(["\(scene.root)/source"], scene.options())
    #expect(try await client.run().done == 3)
    let second = try await TransferClient.open("\(scene.root)/second.db")
    let two = ["\(scene.root)/source/f1", "\(scene.root)/source/f2"]
    _ = try await second.add(two, scene.options(to: "/second/"))
    #expect(try await second.run().done == 2)
    _ = try await TransferClient.merge([scene.storePath, second.storePath], into: merged)
  }

  @Test(arguments: [true, false]) func everythingInItCanBeRead(_ mayCreate: Bool) async throws {
    let client = try await TransferClient.open(merged, mayCreate: mayCreate)
    let files = try await client.files()
    #expect(files.map(\.state) == Array(repeating: "done", count: 5))
    #expect(try await client.batches().count == 2)
    #expect(try await client.chunks().count >= 4)
    #expect(try await client.attempts().count >= 5)
    for file in files { #expect(try await client.receipt(of: file.id)?.confirmation != nil) }
    #expect(try await client.status().totals.count(.done) == 5)
    #expect(try await client.summary().totals.files == 5)
    #expect(try await client.throughput().reduce(0) { $0 + $1.bytesAcked } > 0)
    #expect(try await client.recordedEvents(after: .beginning).count > 5)
    #expect(try await client.wait(for: RowFilter(), until: .done).state.totals.count(.done) == 5)
    #expect(try await client.outcome(of: .cancel, RowFilter()).changed == [])
    #expect(try await client.check().isSound)
  }

  @Test func whatIsMergedLaterIsSeen() async throws {
    let client = try await TransferClient.open(merged)
    let first = try await TransferClient.open(scene.storePath)
    _ = try await first.add(["\(scene.root)/source/f1"], scene.options(to: "/third/"))
    #expect(try await client.files().count == 5)
    _ = try await TransferClient.merge([scene.storePath], into: merged)
    #expect(try await client.files().count == 6)
  }

  @Test func everyChangeIsRefused() async throws {
    let client = try await TransferClient.open(merged)
    let all = RowFilter()
    let source = "\(scene.root)/source"
    try await expectRefused { _ = try await client.add([source], scene.options()) }
    try await expectRefused { _ = try await client.run() }
    try await expectRefused { _ = try await client.verify(all) }
    try await expectRefused { try await client.pause(all) }
    try await expectRefused { try await client.resume(all) }
    try await expectRefused { try await client.cancel(all) }
    try await expectRefused { try await client.retry(all) }
    try await expectRefused { try await client.clean(all) }
    try await expectRefused { try await client.remove(all) }
    try await expectRefused { try await client.resolve(all, as: .done, reason: "looked") }
    var change = BatchChange()
    change.priority = 5
    try await expectRefused { try await client.set(all, change) }
    #expect(try await client.files().map(\.state) == Array(repeating: "done", count: 5))
  }

  /// Each error names the store, says why, and what to do; also when there is nothing to change.
  private func expectRefused(_ change: () async throws -> Void) async throws {
    do {
      try await change()
      Issue.record("it was not refused")
    } catch let error as TransferError {
      #expect(error.kind == .storeUnsuitable && error.subject == NameBytes(merged), "\(error)")
      #expect(error.cause == "it was merged from other ledgers and is only for reading and reports")
      #expect(error.remedy == "work with its shards and merge them again")
    }
  }
}
