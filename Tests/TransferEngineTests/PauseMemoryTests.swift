import Testing

@testable import TransferEngine

@Suite struct PauseMemoryTests {
  @Test func nothingIsConcludedFromAFew() {
    var memory = PauseMemory()
    for _ in 0..<19 { memory.note(0) }
    #expect(memory.limitMs(60_000, failures: 0) == 60_000)
    memory.note(0)
    #expect(memory.limitMs(60_000, failures: 0) == PauseMemory.leastMs)
  }

  /// One attempt in ten takes 8 s, and a single one 50 s.
  @Test func itIsThreeTimesWhatIsSlowThere() {
    var memory = PauseMemory()
    memory.note(50_000)
    for n in 0..<60 { memory.note(n % 10 == 0 ? 8_000 : 100) }
    #expect(memory.limitMs(60_000, failures: 0) == 24_000)
    #expect(memory.limitMs(20_000, failures: 0) == 20_000, "the option is the upper limit")
    #expect(memory.limitMs(0, failures: 0) == 0, "no limit stays no limit")
  }

  /// A server that occasionally needs longer gets the time: after a failure, the next attempts wait longer.
  @Test func eachFailureDoublesIt() {
    var memory = PauseMemory()
    for _ in 0..<20 { memory.note(0) }
    #expect((0..<5).map { memory.limitMs(100_000, failures: $0) } == [15_000, 30_000, 60_000, 100_000, 100_000])
    #expect(memory.limitMs(100_000, failures: 1_000) == 100_000)
  }

  /// Old attempts are forgotten.
  @Test func theLastAttemptsCount() {
    var memory = PauseMemory()
    for _ in 0..<64 { memory.note(15_000) }
    #expect(memory.limitMs(60_000, failures: 0) == 45_000)
    for _ in 0..<64 { memory.note(0) }
    #expect(memory.limitMs(60_000, failures: 0) == PauseMemory.leastMs)
  }
}
