import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// The requests that abort one session.
@Suite struct AbortRunTests {
  private let proto = ProtocolInUse(ChunkProtocol(repeatable: true))

  private func abort(_ remoteID: String?) -> AbortRun {
    AbortRun(AbortWork(number: 1, remoteID: remoteID, batch: BatchID(rawValue: 1)))
  }

  @Test func aKnownSessionIsAbortedByItsName() {
    var abort = abort("u1")
    #expect(abort.step == nil, "nothing is sent before the protocol was asked")
    abort.begin(proto)
    #expect(abort.step == .abort(remoteID: "u1"))
    abort.remaining.removeLast()
    abort.begin(proto)
    #expect(abort.step == nil, "beginning again adds nothing")
  }

  /// The answer to the create request was lost, and the protocol cannot list what the server has.
  @Test func whatCannotBeFoundIsLeft() {
    var abort = abort(nil)
    #expect(abort.step == .probe(marker: nil), "the server is asked first")
    abort.begin(proto)
    #expect(abort.step == nil && abort.remaining == [])
  }

  @Test func whatAListingFoundIsAbortedAfterItsLastPage() {
    var abort = abort(nil)
    (abort.remaining, abort.marker) = (["u1", "u2"], "m")
    #expect(abort.step == .probe(marker: "m"), "there is another page")
    abort.isListed = true
    #expect(abort.step == .abort(remoteID: "u2"))
    abort.remaining.removeLast()
    #expect(abort.step == .abort(remoteID: "u1"))
  }

  @Test func theFactsAreThoseOfTheSession() {
    let (known, lost) = (abort("u1").facts, abort(nil).facts)
    #expect(known.session?.remoteID == "u1" && known.lostAnswer == nil)
    #expect(known.file.size == 10 && known.file.mtimeMs == 5)
    #expect(lost.session?.remoteID == nil && lost.lostAnswer == .create)
  }
}
