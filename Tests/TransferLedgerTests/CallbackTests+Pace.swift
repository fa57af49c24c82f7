import TransferModel
import Testing

@testable import TransferLedger

/// How often the receivers of a job are told.
extension CallbackTests {
  /// Ends runs, given as the result of each and the milliseconds since the one before. Returns the runs that the
  /// receiver is notified of, with the number of failed runs since the previous notification.
  private func tellings(_ pace: CallbackPace, _ runs: [(result: String, afterMs: Int64)]) throws -> [String] {
    for (number, run) in runs.enumerated() {
      f.clock.advance(ms: run.afterMs)
      let (event, now): (CallbackEvent, Int64) = (run.result == "ok" ? .succeeded : .unsuccessful, f.clock.wallMs)
      let settings = [CallbackEvent.succeeded, .unsuccessful].map {
        CallbackSetting(
          $0, .mail, "/usr/sbin/sendmail root", pace: $0 == .succeeded && pace != .each ? .recovery : pace)
      }
      try f.ledger.write { tx in
        try tx.recordJob(
          JobRow(
            job: "nightly", startedMs: now, endedMs: now, result: run.result, message: run.result == "ok" ? nil : "no"))
        try tx.tellEnd(
          event, ofJob: "nightly", uid: UID(high: 9, low: UInt64(number)), result: run.result, settings
        ) { "{\"n\":\(number),\"failed\":\($0)}" }
      }
    }
    return try f.texts(
      "SELECT json_extract(body, '$.n'), result, json_extract(body, '$.failed') FROM outbox ORDER BY id")
  }

  @Test func aFailureThatGoesOnIsToldOnceADay() throws {
    let hour: Int64 = 3_600_000
    let runs = [
      ("ok", hour), ("partial", hour), ("partial", hour), ("partial", hour), ("auth", hour), ("auth", 23 * hour),
    ]
    let more = [("auth", hour), ("auth", hour), ("ok", hour), ("ok", hour), ("partial", hour)]
    #expect(
      try tellings(.changes(remindMs: 24 * hour), runs + more) == [
        "1 partial 1", "4 auth 3", "6 auth 2", "8 ok 1", "10 partial 1",
      ])
    #expect(try f.findings() == [])
  }

  @Test func whoWantsEachRunIsToldOfEach() throws {
    #expect(
      try tellings(.each, [("partial", 1), ("partial", 1), ("ok", 1)]) == ["0 partial 1", "1 partial 1", "2 ok 0"])
  }

  /// A callback that was given up did not arrive, so the next run is reported although nothing has changed.
  @Test func whatWasNotHeardIsToldAgain() throws {
    let hour: Int64 = 3_600_000
    #expect(try tellings(.changes(remindMs: 24 * hour), [("partial", 1)]).count == 1)
    var gone = DeliveryEnd(.failed)
    gone.isFinal = true
    try end(try #require(try begin(1).first).id, gone)
    #expect(try tellings(.changes(remindMs: 24 * hour), [("partial", 1), ("partial", 1)]).count == 2)
  }

  /// After a power cut, either both the state and its callback exist, or neither.
}
