import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct ProfileRehearsalTests {
  /// Every built-in profile shows what it would send, and no secret.
  @Test(arguments: BuiltinProfile.names)
  func everyBuiltinCanBeTried(_ name: String) throws {
    let proto = try builtin(name, "https://h.example/x", ["drive": "d", "bucket": "b", "user": "u"])
    let rehearsal = ProfileRehearsal(proto, key: NameBytes("a b.txt"), size: 9, mtimeMs: 0)
    let requests = try rehearsal.requests { _, algorithm in RunningDigest.of([], algorithm) }
    #expect(requests.contains { $0.step == "chunk 1 of 1" && $0.body.contains("<9 bytes of the file from 0>") })
    #expect(requests.allSatisfy { $0.url.hasPrefix("https://h.example/") })
  }

  @Test func manyChunksAreShownInPart() throws {
    let rehearsal = ProfileRehearsal(
      try builtin("numbered-chunks", "https://h.example", partSize: 4), key: NameBytes("k"), size: 399, mtimeMs: 0)
    let requests = try rehearsal.requests { _, algorithm in RunningDigest.of([], algorithm) }
    #expect(
      requests.map(\.step) == ["chunk 1 of 100", "chunk 2 of 100", "chunk 100 of 100", "complete", "verify"])
    #expect(requests[0].headers.contains("Authorization: (hidden)"))
  }
}
