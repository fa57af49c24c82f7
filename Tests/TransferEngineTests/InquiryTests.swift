import Testing
import TransferModel

@testable import TransferEngine

@Suite struct InquiryTests {
  @Test func theServerIsAskedAfterTheIntervalAndThenAfterTwiceAsLong() {
    var inquiry = Inquiry(everyMs: 1_000, nowMs: 5_000)
    #expect(!inquiry.isDue(nowMs: 5_999))
    #expect(inquiry.isDue(nowMs: 6_000))
    inquiry.ask()
    #expect(!inquiry.isDue(nowMs: 60_000), "one query at a time")
    let waited = inquiry.end(isFound: false, nowMs: 7_000)
    #expect(waited?.status == nil)
    #expect(!inquiry.isDue(nowMs: 8_999))
    #expect(inquiry.isDue(nowMs: 9_000))
  }

  @Test func anAnswerWaitsForTheQuestionThatRunsAndComesOutWithItsEnd() {
    var inquiry = Inquiry(everyMs: 1_000, nowMs: 0)
    var reply = TransferReply()
    reply.status = 201
    var isHeld = inquiry.holds(reply)
    #expect(!isHeld, "no query is open")
    inquiry.ask()
    inquiry.begin(7)
    isHeld = inquiry.holds(reply)
    #expect(isHeld)
    #expect(inquiry.question == 7)
    let waited = inquiry.end(isFound: false, nowMs: 2_000)
    #expect(waited?.status == 201)
    #expect(inquiry.held == nil && inquiry.question == nil)
    isHeld = inquiry.holds(reply)
    #expect(!isHeld, "the query has ended")
  }

  @Test func nothingIsAskedOnceTheFileIsFound() {
    var inquiry = Inquiry(everyMs: 1_000, nowMs: 0)
    inquiry.ask()
    _ = inquiry.end(isFound: true, nowMs: 1_000)
    #expect(inquiry.isFound)
    #expect(!inquiry.isDue(nowMs: 1_000_000))
  }
}
