import Receiver
import Testing
import TransferModel
import Transfers

/// The main job against the bundled receiver: real ledger, real libcurl, real sockets.
@Suite struct PushToReceiverTests {
  @Test func everyFileArrivesAndASecondPushSendsNothing() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 7, count: 60)
    let first = try scene.push()
    #expect(first.added.counts.added == files.count)
    #expect(first.result.done == files.count)
    #expect(first.result.left == 0)
    try scene.expectSameBytes(files)
    let second = try scene.push()
    #expect(second.added.counts.unchanged == files.count)
    #expect(second.added.counts.added == 0)
    #expect(second.result.bytesTransferred == 0)
    #expect(try scene.commits().count == files.count)
  }

  @Test func transientFailuresAreRetriedUntilEverythingIsThere() throws {
    let scene = try Scene(script: "match PUT * every=9 : status=503\nmatch PUT * every=11 : lose-answer\n")
    let files = try scene.makeTree(seed: 8, count: 30)
    let outcome = try scene.push()
    #expect(outcome.result.done == files.count)
    #expect(outcome.result.retries > 0)
    try scene.expectSameBytes(files)
  }

  @Test func aRefusedFileFailsAloneAndTheRestGoesOn() throws {
    let scene = try Scene(script: "match PUT */f3* : status=403\n")
    let files = try scene.makeTree(seed: 9, count: 12)
    let outcome = try scene.push()
    let refused = files.keys.filter { $0.lastComponent.bytes.starts(with: Array("f3".utf8)) }.count
    #expect(refused > 0)
    #expect(outcome.result.failed == refused)
    #expect(outcome.result.done == files.count - refused)
  }
}
