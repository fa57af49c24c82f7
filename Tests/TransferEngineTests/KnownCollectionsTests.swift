import Testing
import TransferModel

@testable import TransferEngine

@Suite struct KnownCollectionsTests {
  private let known = KnownCollections()
  private let first = FileID(rawValue: 1)
  private let second = FileID(rawValue: 2)
  private let key = NameBytes("u/a/b/f")

  /// The first file creates everything, and the others wait for the level that they need.
  private func begin() {
    #expect(known.refused(key, first, sentMs: 0) == .make(from: 0))
    known.begin(key, from: 0, by: first)
  }

  @Test func whatIsNotKnownIsTried() {
    #expect(known.advice(for: key, first) == .send)
    #expect(known.advice(for: NameBytes("f"), first) == .send)
    known.stored(NameBytes("f"), nowMs: 0)
    #expect(known.count == 0, "the root needs no collection")
  }

  @Test func theOthersWaitForTheFileThatCreatesTheirCollection() {
    begin()
    #expect(known.isAnyBeingMade)
    #expect(known.advice(for: key, first) == .send)
    for other in ["u/a/b/g", "u/a/b/c/g", "u/a/g", "u/g"] {
      #expect(known.advice(for: NameBytes(other), second) == .wait, "\(other)")
      #expect(known.refused(NameBytes(other), second, sentMs: 0) == .wait, "\(other)")
    }
    #expect(known.advice(for: NameBytes("v/g"), second) == .send)
  }

  @Test func aNewCollectionHasNoneInIt() {
    begin()
    known.answered(405, key, depth: 1, by: first, nowMs: 5)
    #expect(known.advice(for: NameBytes("u/g"), second) == .send)
    #expect(known.advice(for: NameBytes("u/z/g"), second) == .send, "it may be there")
    known.answered(201, key, depth: 2, by: first, nowMs: 6)
    #expect(known.advice(for: NameBytes("u/a/g"), second) == .send)
    #expect(known.advice(for: NameBytes("u/a/z/g"), second) == .make(from: 2))
    #expect(known.advice(for: NameBytes("u/a/b/g"), second) == .wait)
    known.answered(201, key, depth: 3, by: first, nowMs: 7)
    #expect(known.advice(for: NameBytes("u/a/b/g"), second) == .send)
    #expect(!known.isAnyBeingMade)
  }

  @Test func onlyLevelsThatAreNotKnownAreCreated() {
    known.stored(NameBytes("u/a/f"), nowMs: 1)
    #expect(known.advice(for: NameBytes("u/a/z/g"), second) == .send)
    #expect(known.refused(NameBytes("u/a/z/y/g"), second, sentMs: 2) == .make(from: 2))
    known.begin(NameBytes("u/a/z/y/g"), from: 2, by: second)
    #expect(known.advice(for: NameBytes("u/a/z/g"), first) == .wait)
    #expect(known.advice(for: NameBytes("u/a/g"), first) == .send)
  }

  @Test func anAnswerThatSaysNothingIsNotRemembered() {
    begin()
    for status in [301, 403] { known.answered(status, key, depth: 1, by: first, nowMs: 1) }
    #expect(known.count == 0)
    #expect(known.advice(for: NameBytes("u/g"), second) == .send)
  }

  @Test func aFileThatEndsCreatesNothing() {
    begin()
    known.ended(second)
    #expect(known.advice(for: key, second) == .wait)
    known.ended(first)
    #expect(known.advice(for: key, second) == .send)
  }

  /// A request that was sent before the collection was created is sent again; a later refusal means that it vanished.
  @Test func aCollectionThatVanishedIsForgotten() {
    begin()
    for depth in 1...3 { known.answered(201, key, depth: depth, by: first, nowMs: 10) }
    #expect(known.refused(key, second, sentMs: 9) == .wait)
    #expect(known.refused(key, second, sentMs: 11) == .make(from: 0))
    #expect(known.count == 0)
    #expect(known.advice(for: key, second) == .send)
  }

  @Test func theMemoryIsBounded() {
    let few = KnownCollections(most: 100)
    for folder in 0..<1_000 {
      few.stored(NameBytes("\(folder)/f"), nowMs: 0)
      _ = few.refused(NameBytes("0/new/f"), first, sentMs: 1)
      #expect(few.count <= 100)
    }
    #expect(few.refused(NameBytes("0/new/f"), first, sentMs: 1) == .make(from: 1), "it was looked up again and again")
    #expect(few.refused(NameBytes("1/new/f"), first, sentMs: 1) == .make(from: 0))
  }
}
