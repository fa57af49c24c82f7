import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// When a second check of a source proves that it has settled.
@Suite struct SourceLooksTests {
  private static let seen = SourceIdentity(size: 1, mtimeNs: 2, ctimeNs: 3, inode: 4, device: 5, boot: 6)

  private func outcome(
    now: SourceIdentity = seen, lookedIn boot: UInt64 = 6, since: Int64 = 1_000, due: Int64 = 61_000,
    isCompared: Bool = false, at ms: Int64
  ) -> SourceLooks.Outcome {
    var source = SettlingSource(
      id: FileID(rawValue: 1), path: NameBytes("/a"), identity: Self.seen, boot: boot, sinceMs: since, dueMs: due)
    source.isCompared = isCompared
    return SourceLooks.outcome(on: source, now: now, boot: 6, nowMs: ms)
  }

  @Test func theSameAfterItsTimeHasSettled() { #expect(outcome(at: 61_000) == .settled) }

  @Test func beforeItsTimeNothingHas() { #expect(outcome(at: 60_999) == .another(Self.seen)) }

  @Test func anyChangeBeginsAnew() {
    for part in [\SourceIdentity.size, \.mtimeNs, \.ctimeNs] {
      var now = Self.seen
      now[keyPath: part] += 1
      #expect(outcome(now: now, at: 99_000) == .another(now))
    }
  }

  @Test func anotherFileOfTheNameBeginsAnew() {
    var now = Self.seen
    now.inode += 1
    #expect(outcome(now: now, at: 99_000) == .another(now))
  }

  /// A file that was compared with a list does not wait once its size, time or inode has changed: the engine fails it.
  /// If only its ctime or device has changed, it is still the same file.
  @Test func aComparedFileThatChangedWaitsForNothing() {
    for part in [\SourceIdentity.size, \.mtimeNs] {
      var now = Self.seen
      now[keyPath: part] += 1
      #expect(outcome(now: now, isCompared: true, at: 2_000) == .settled)
    }
    var touched = Self.seen
    touched.ctimeNs += 1
    #expect(outcome(now: touched, isCompared: true, at: 99_000) == .another(touched))
    #expect(outcome(lookedIn: 7, isCompared: true, at: 99_000) == .another(Self.seen))
  }

  @Test func afterARestartTheTimeCountsAnew() {
    #expect(outcome(lookedIn: 7, at: 99_000) == .another(Self.seen))
  }

  @Test func byAClockThatWentBackNothingHasSettled() {
    #expect(outcome(since: 70_000, due: 61_000, at: 62_000) == .another(Self.seen))
  }
}

/// Files that mark sources as complete.
@Suite struct ReadyMarkerTests {
  @Test(arguments: [
    ("{path}.done", "a.csv", "a.csv.done"), ("{dir}/.{name}.ok", "a.csv", ".a.csv.ok"),
    ("{dir}/{stem}.ready", "a.csv", "a.ready"), ("{dir}/{stem}.ready", ".a", ".a.ready"), ("{dir}/.done", "a", ".done"),
  ])
  func namesTheMarker(_ pattern: String, _ source: String, _ marker: String) throws {
    let ready = try ReadyMarker(pattern)
    #expect(ready.name(of: Array(source.utf8)) == NameBytes(marker))
    #expect(ready.isMarker(Array(marker.utf8)) && !ready.isMarker(Array(source.utf8)))
  }

  @Test(arguments: ["", "done", "{path}", "{dir}/{name}", "{dir}/a/b", "{dir}/..", "{path}.{x}", "/x/{name}.done"])
  func refusesOtherPatterns(_ pattern: String) {
    #expect(throws: TransferError.self) { try ReadyMarker(pattern) }
  }
}
