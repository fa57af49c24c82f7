import Testing
import TransferModel

@testable import TransferEngine

@Suite struct FileRequestsTests {
  @Test func untriedChunksBeginBesideThoseThatAreDue() {
    var requests = FileRequests(ChunkBackoffs([100, 900]))
    #expect(requests.beginChunks(unsent: 5, most: 10, limit: 10, nowMs: 200) == 4, "one still backs off")
    #expect(requests.count == 4)
    #expect(requests.backoffs.count == 1)
    #expect(requests.beginChunks(unsent: 1, most: 10, limit: 10, nowMs: 200) == 0)
  }

  @Test func noMoreAreOpenThanTheServerTakes() {
    var requests = FileRequests(ChunkBackoffs())
    #expect(requests.beginChunks(unsent: 9, most: 3, limit: 2, nowMs: 0) == 2)
    #expect(requests.beginChunks(unsent: 7, most: 3, limit: 2, nowMs: 0) == 1)
    #expect(requests.beginChunks(unsent: 6, most: 3, limit: 2, nowMs: 0) == 0)
  }

  @Test func whatTheLedgerDidNotBeginIsRequestedAgainSoon() {
    var requests = FileRequests(ChunkBackoffs())
    _ = requests.beginChunks(unsent: 3, most: 8, limit: 8, nowMs: 1_000)
    let isRight = requests.began(2, ofAsked: 3, nowMs: 1_000)
    #expect(isRight && requests.count == 2 && requests.openChunks == 2)
    #expect(requests.backoffs.firstMs == 1_020)
  }

  @Test func aLedgerWithoutChunksIsNotAskedForEver() {
    var requests = FileRequests(ChunkBackoffs())
    var asked = 0
    var isRight = true
    while isRight, asked < 1_000 {
      _ = requests.beginChunks(unsent: 1, most: 8, limit: 8, nowMs: Int64(asked) * 1_000)
      isRight = requests.began(0, ofAsked: 1, nowMs: Int64(asked) * 1_000)
      asked += 1
    }
    #expect(asked == 101)
    _ = requests.beginChunks(unsent: 1, most: 8, limit: 8, nowMs: 9_000_000)
    let began = requests.began(1, ofAsked: 1, nowMs: 9_000_000)
    #expect(began, "a chunk that begins ends the count")
  }

  @Test func aControlStepIsTheOnlyRequestOfItsFile() {
    var requests = FileRequests(ChunkBackoffs())
    requests.beginControl()
    #expect(requests.isControl && requests.count == 1 && requests.chunkCount == 0)
    requests.end(.control(AttemptID(rawValue: 1)))
    #expect(!requests.isControl && requests.count == 0)
  }
}
