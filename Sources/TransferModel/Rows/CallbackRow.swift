/// A waiting, delivered or given-up callback.
package struct CallbackRow: Sendable, Hashable {
  package var id: Int64
  package var setting: CallbackSetting
  /// Its subject: a file, a batch (then `file` is nil) or a job.
  package var file: FileID?
  package var batch: BatchID?
  package var job: String?
  package var state: CallbackState
  package var failures: Int
  package var deliveries: Int
  /// Milliseconds since 1970 UTC, as all times here.
  package var notBeforeMs: Int64
  package var recordedMs: Int64?
  package var endedMs: Int64?
  /// Of its last delivery.
  package var exitCode: Int?
  package var httpStatus: Int?
  package var message: String?

  package init(id: Int64, setting: CallbackSetting, state: CallbackState) {
    (self.id, self.setting, self.state) = (id, setting, state)
    (failures, deliveries, notBeforeMs) = (0, 0, 0)
  }
}

/// A callback whose delivery has begun.
package struct DueCallback: Sendable, Hashable {
  package var id: Int64
  /// Its receiver.
  package var receiver: Int64
  package var setting: CallbackSetting
  /// The idempotency key: the same for each delivery of this callback, so that receivers can detect duplicates.
  package var key: String
  /// Deliveries that failed before.
  package var failures: Int
  /// Its file; nil for a batch or job.
  package var file: FileID?
  /// The batch that it reports; nil for a file or job. If both are nil, ``body`` is the document.
  package var batch: BatchID?
  package var body: String?

  package init(
    id: Int64, receiver: Int64, setting: CallbackSetting, key: String, failures: Int, file: FileID?,
    batch: BatchID? = nil, body: String?
  ) {
    (self.id, self.receiver, self.setting, self.key, self.failures) = (id, receiver, setting, key, failures)
    (self.file, self.batch, self.body) = (file, batch, body)
  }
}

/// The result of one delivery.
package struct DeliveryEnd: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable { case ok, failed, interrupted }

  package var outcome: Outcome
  package var exitCode: Int?
  package var httpStatus: Int?
  /// Why it failed.
  package var message: String?
  /// At most ``outputBytes`` are kept.
  package var output: [UInt8]
  /// The wait requested by the receiver, in milliseconds.
  package var retryAfterMs: Int64?
  /// The receiver permanently refuses it (410).
  package var isFinal = false

  package static let outputBytes = 4_096

  package init(
    _ outcome: Outcome, exitCode: Int? = nil, httpStatus: Int? = nil, message: String? = nil, output: [UInt8] = []
  ) {
    (self.outcome, self.exitCode, self.httpStatus) = (outcome, exitCode, httpStatus)
    (self.message, self.output) = (message, Array(output.prefix(Self.outputBytes)))
  }
}

/// Callbacks that were not delivered.
public struct CallbacksLeft: Sendable, Hashable {
  /// They wait, or are being delivered.
  public var waiting: Int
  /// No further delivery is attempted until a person requests it.
  public var givenUp: Int
  /// Given up, and their rows were deleted.
  public var forgotten: Int
  /// Forgotten callbacks whose receivers have received nothing since.
  public var unheard: Int

  package init(waiting: Int = 0, givenUp: Int = 0, forgotten: Int = 0, unheard: Int = 0) {
    (self.waiting, self.givenUp, self.forgotten, self.unheard) = (waiting, givenUp, forgotten, unheard)
  }
}
