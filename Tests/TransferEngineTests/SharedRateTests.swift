import Glibc
import Testing
import TransferModel

@testable import TransferEngine

/// Engines that share a rate: the part that each one takes after it has looked at the others.
@Suite struct SharedRateTests {
  private let folder: TemporaryFolder
  private var groups: String { "\(folder.path)/transfers" }

  init() throws { folder = try TemporaryFolder() }

  private func member(_ name: String = "line") throws -> SharedRate { try SharedRate(name, in: groups) }

  private func own(_ member: SharedRate, _ named: Int64? = 900, sends: Bool = true, atMs: Int64 = 0) -> Int64? {
    member.look(named: named, isSending: sends, nowMs: atMs).own
  }

  @Test func oneThatIsAloneHasAll() throws {
    #expect(own(try member()) == 900)
  }

  /// A new member takes nothing before the others have released it.
  @Test func theSumIsNeverMoreThanTheRate() throws {
    let (first, second, third) = (try member(), try member(), try member())
    #expect(own(first) == 900)
    #expect(own(second) == 0)
    #expect(own(first) == 450)
    #expect(own(second) == 450)
    #expect(own(third) == 0)
    #expect(own(first) == 300)
    #expect(own(third) == 150)
    #expect(own(second) == 300)
    #expect(own(third) == 300)
  }

  @Test func oneWithNothingToSendLeavesItsPartToTheOthers() throws {
    let (first, second) = (try member(), try member())
    #expect(own(first) == 900)
    _ = own(second)
    _ = own(first)
    #expect(own(second) == 450)
    #expect(own(first, sends: false) == 0)
    #expect(own(second) == 900)
    #expect(own(first) == 0)
    #expect(own(second) == 450)
    #expect(own(first) == 450)
  }

  @Test func oneThatLeavesIsGoneAtOnce() throws {
    let first = try member()
    var second: SharedRate? = try member()
    _ = own(try #require(second))
    #expect(own(first) == 0)
    second = nil
    #expect(own(first) == 900)
    let third = try member()
    _ = own(third)
    #expect(own(first) == 450)
    third.leave()
    #expect(own(first) == 900)
  }

  /// A file without a lock was left by a killed member.
  @Test func whatAKilledMemberLeftIsRemoved() throws {
    let first = try member()
    let left = "\(groups)/rate-line/4711-ab"
    let descriptor = open(left, O_WRONLY | O_CREAT, 0o600)
    let line = RateNote(named: 10, taken: 10, isSending: true, atMs: 0).line
    #expect(write(descriptor, line, line.count) == line.count)
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(own(first) == 0, "while it lives, it counts")
    close(descriptor)
    #expect(own(first) == 900)
    #expect(access(left, F_OK) != 0)
  }

  @Test func whatIsNoFileIsNotWaitedFor() throws {
    let first = try member()
    #expect(mkfifo("\(groups)/rate-line/1-fifo", 0o600) == 0 && mkdir("\(groups)/rate-line/2-folder", 0o700) == 0)
    #expect(symlink("/etc/passwd", "\(groups)/rate-line/3-link") == 0)
    #expect(own(first) == 900)
  }

  @Test func oneThatHangsIsNotWaitedFor() throws {
    let (first, second) = (try member(), try member())
    #expect(own(first) == 900)
    #expect(own(second, atMs: SharedRate.silentMs - 1) == 0)
    #expect(own(second, atMs: SharedRate.silentMs) == 900)
  }

  @Test func theSmallestRateCounts() throws {
    let (first, second, third) = (try member(), try member(), try member())
    #expect(own(first, 900) == 900)
    #expect(second.look(named: 600, isSending: false, nowMs: 0) == SharedRate.Part(own: 0, group: 600))
    #expect(first.look(named: 900, isSending: true, nowMs: 0) == SharedRate.Part(own: 600, group: 600))
    #expect(third.look(named: nil, isSending: false, nowMs: 0).group == 600)
  }

  @Test func withoutAnyRateThereIsNoLimit() throws {
    let (first, second) = (try member(), try member())
    #expect(own(first, nil) == nil)
    #expect(own(second, 500) == 0, "the other does not know the limit yet")
    #expect(own(first, nil) == 250)
    #expect(own(second, 500) == 250)
  }

  @Test func groupsOfOtherNamesDoNotCount() throws {
    let (first, second) = (try member("a"), try member("b"))
    #expect(own(first) == 900)
    #expect(own(second) == 900)
  }

  /// While somebody else holds the gate, a member cannot look and takes nothing more.
  @Test func oneThatCannotLookTakesNoMore() throws {
    let (first, second) = (try member(), try member())
    _ = own(first)
    _ = own(second)
    _ = own(first)
    #expect(own(second) == 450)
    #expect(own(first, sends: false) == 0)
    let gate = open("\(groups)/rate-line/gate", O_RDWR)
    defer { close(gate) }
    #expect(flock(gate, LOCK_EX) == 0)
    #expect(own(second) == 450)
    #expect(flock(gate, LOCK_UN) == 0)
    #expect(own(second) == 900)
  }

  @Test(arguments: ["", ".", "../x", "a/b", "a b", String(repeating: "a", count: 65)])
  func namesAreChecked(_ name: String) {
    #expect(throws: TransferError.self) { try member(name) }
  }

  @Test func aFolderOfOthersIsRefused() throws {
    #expect(mkdir(groups, 0o700) == 0)
    #expect(chmod(groups, 0o750) == 0)
    #expect { try member() } throws: { ($0 as? TransferError)?.kind == .config }
    #expect(rmdir(groups) == 0)
    #expect(mkdir("\(folder.path)/there", 0o700) == 0)
    #expect(symlink("\(folder.path)/there", groups) == 0)
    #expect { try member() } throws: { ($0 as? TransferError)?.kind == .config }
    #expect(access("\(folder.path)/there/rate-line", F_OK) != 0)
  }

  @Test func whatNoMemberWroteIsNotRead() {
    let note = RateNote(named: 5, taken: nil, isSending: true, atMs: 12)
    #expect(RateNote(note.line) == note && note.line.count == RateNote.length)
    for text in ["", "1 2 1", "x 2 1 3", "-1 2 1 3", "1 2 2 3", "1 2 1 x"] {
      #expect(RateNote(Array(text.utf8)) == nil)
    }
  }
}
