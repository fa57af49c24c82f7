import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferLedger

@Suite struct FileReleaseTests {
  private let failure = Failure(.http5xx, "503")
  private let shorter = ChunkLayout(size: 100, chunkSize: 10)

  private func release(
    _ ending: FileEnding, lost: LostSession? = nil, shorter: ChunkLayout? = nil, isFinishing: Bool = false,
    preparesChunks: Bool = false, isPlaceable: Bool = false
  ) -> [FileChange] {
    FileRelease(
      ending: ending, sessionFate: lost.map(SessionFate.lost) ?? shorter.map(SessionFate.recut) ?? .kept,
      isFinishing: isFinishing, preparesChunks: preparesChunks, isPlaceable: isPlaceable
    ).changes
  }

  private let wait = FileEnding.release(notBeforeMs: 500, .http5xx, isFailure: true)

  @Test func aFileThatIsOnlyReleasedKeepsItsSession() {
    #expect(release(wait) == [.release(notBeforeMs: 500, .http5xx, isFailure: true)])
    #expect(
      release(.fail(failure, keepsSession: true)) == [.fail(.http5xx, failure.message, keepsSession: true)])
  }

  @Test func aLostSessionEndsBeforeTheFileIsReleased() {
    let after = FileChange.release(notBeforeMs: 500, .http5xx, isFailure: true)
    #expect(release(wait, lost: .gone) == [.endSession(.gone), .resetChunks, after])
    #expect(
      release(wait, lost: .gone, isFinishing: true) == [.resumeSending, .endSession(.gone), .resetChunks, after])
    #expect(release(wait, lost: .useless) == [.giveUpSession, .resetChunks, after], "its remains are aborted")
    #expect(
      release(wait, lost: .gone, preparesChunks: true) == [.giveUpSession, .resetChunks, after],
      "uploads of chunks may still exist")
  }

  @Test func aFileIsDividedAgainAfterItsUploadWasGivenUp() {
    let after = FileChange.release(notBeforeMs: 500, .http5xx, isFailure: true)
    #expect(release(wait, shorter: shorter) == [.giveUpSession, .resetChunks, .recut(shorter), after])
  }

  @Test func placingDoesNotWaitForTheServer() {
    let due = FileEnding.release(notBeforeMs: 500, nil, isFailure: false)
    #expect(release(due, isPlaceable: true) == [.release(notBeforeMs: nil, nil, isFailure: false)])
    #expect(release(due) == [.release(notBeforeMs: 500, nil, isFailure: false)])
    #expect(
      release(wait, isPlaceable: true) == [.release(notBeforeMs: 500, .http5xx, isFailure: true)],
      "it has a cause of its own")
  }

  @Test func theChunksOfADuplicateAreNotChanged() {
    let digest = Digest(.sha256, Array(repeating: 1, count: 32))
    let original = DeliveredFile(id: FileID(rawValue: 7), key: NameBytes("a"), digest: digest)
    #expect(release(.duplicate(original), lost: .gone) == [.endSession(.gone), .endDuplicate(original)])
  }
}
