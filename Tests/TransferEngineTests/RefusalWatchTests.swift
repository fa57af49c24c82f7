import Testing
import TransferModel

@testable import TransferEngine

@Suite struct RefusalWatchTests {
  private let refusal = Failure(.authRefused, "the server answered 403 (SignatureDoesNotMatch: request 1)")

  /// Eight concurrent requests with a wrong key: the key is read again once, all are sent once more, and then the
  /// destination is held.
  @Test func aWrongKeyIsTriedTwiceByWhatRunsAndNoMore() {
    var watch = RefusalWatch()
    var decisions = (1...8).map { watch.refused(refusal, file: file($0), generation: 0) }
    #expect(decisions == [.readCredential] + Array(repeating: .sendAgain, count: 7))
    decisions = (1...8).map { watch.refused(refusal, file: file($0), generation: 1) }
    #expect(decisions == [.wait, .wait, .wait, .wait, .hold, .wait, .wait, .wait])
  }

  /// After its error code, a server identifies each request.
  @Test func textsThatDifferInDetailsAreTheSameReason() {
    var watch = RefusalWatch()
    let decisions = (1...5).map { n in
      let message = "the server answered 404 (NoSuchBucket: no bucket, request \(n))"
      return watch.refused(Failure(.protoNoDestination, message), file: file(n), generation: nil)
    }
    #expect(decisions.last == .hold)
  }

  @Test func aLoneFileIsAskedForTwice() {
    var watch = RefusalWatch()
    #expect(watch.refused(refusal, file: file(1), generation: nil) == .wait)
    #expect(watch.refused(refusal, file: file(1), generation: nil) == .hold)
  }

  /// Other files succeed, so the file itself is at fault.
  @Test func aFileThatIsRefusedBetweenSuccessesIsAtFault() {
    var watch = RefusalWatch()
    for n in 1...20 {
      watch.succeeded()
      #expect(watch.refused(refusal, file: file(n), generation: nil) == .wait)
    }
    #expect(watch.refused(refusal, file: file(7), generation: nil) == .fileAtFault)
    #expect(watch.refused(refusal, file: file(7), generation: nil) == .wait, "its next refusal counts from zero")
  }

  /// A request that was still running succeeded: the destination accepts files, and the file that it refused is at
  /// fault.
  @Test func aLateSuccessEndsTheHold() {
    var watch = RefusalWatch()
    #expect(watch.refused(refusal, file: file(1), generation: nil) == .wait)
    #expect(watch.refused(refusal, file: file(1), generation: nil) == .hold)
    watch.succeeded()
    #expect(watch.refused(refusal, file: file(1), generation: nil) == .fileAtFault)
    #expect(watch.refused(refusal, file: file(2), generation: nil) == .wait)
    #expect(watch.refused(refusal, file: file(2), generation: nil) == .hold)
  }

  @Test func differentReasonsAreNotOne() {
    var watch = RefusalWatch()
    for n in 1...20 {
      let failure = n % 2 == 0 ? refusal : Failure(.authRefused, "the server answered 401")
      #expect(watch.refused(failure, file: file(n), generation: nil) == .wait)
    }
  }

  /// A token that expires every hour is read again every hour.
  @Test func credentialsAreReadAgainAfterASuccess() {
    var watch = RefusalWatch()
    for hour in 0..<5 {
      #expect(watch.refused(refusal, file: file(hour), generation: hour) == .readCredential)
      watch.succeeded()
    }
  }

  private func file(_ n: Int) -> FileID { FileID(rawValue: Int64(n)) }
}
