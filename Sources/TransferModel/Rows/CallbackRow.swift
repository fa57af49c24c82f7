/// A waiting, delivered or given-up callback.
public struct CallbackRow: Sendable, Hashable {
  public var id: Int64
  public var setting: CallbackSetting
  /// Its subject: a file, a batch (then `file` is nil) or a job.
  public var file: FileID?
  public var batch: BatchID?
  public var job: String?
  public var state: CallbackState
  public var failures: Int
  public var deliveries: Int
  /// Milliseconds since 1970 UTC, as all times here.
  public var notBeforeMs: Int64
  public var recordedMs: Int64?
  public var endedMs: Int64?
  /// Of its last delivery.
  public var exitCode: Int?
  public var httpStatus: Int?
  public var message: String?

  package init(id: Int64, setting: CallbackSetting, state: CallbackState) {
    (self.id, self.setting, self.state) = (id, setting, state)
    (failures, deliveries, notBeforeMs) = (0, 0, 0)
  }
}

/// A callback whose delivery has begun.
public struct DueCallback: Sendable, Hashable {
  public var id: Int64
  /// Its receiver.
  public var receiver: Int64
  public var setting: CallbackSetting
  /// The idempotency key: the same for each delivery of this callback, so that receivers can detect duplicates.
  public var key: String
  /// Deliveries that failed before.
  public var failures: Int
  /// Its file; nil for a batch or job.
  public var file: FileID?
  /// The batch that it reports; nil for a file or job. If both are nil, ``body`` is the document.
  public var batch: BatchID?
  public var body: String?

  package init(
    id: Int64, receiver: Int64, setting: CallbackSetting, key: String, failures: Int, file: FileID?,
    batch: BatchID? = nil, body: String?
  ) {
    (self.id, self.receiver, self.setting, self.key, self.failures) = (id, receiver, setting, key, failures)
    (self.file, self.batch, self.body) = (file, batch, body)
  }
}

/// The result of one delivery.
public struct DeliveryEnd: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable { case ok, failed, interrupted }

  public var outcome: Outcome
  public var exitCode: Int?
  public var httpStatus: Int?
  /// Why it failed.
  public var message: String?
  /// At most ``outputBytes`` are kept.
  public var output: [UInt8]
  /// The wait requested by the receiver, in milliseconds.
  public var retryAfterMs: Int64?
  /// The receiver permanently refuses it (410).
  public var isFinal = false

  public static let outputBytes = 4_096

  public init(
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

  public init(waiting: Int = 0, givenUp: Int = 0, forgotten: Int = 0, unheard: Int = 0) {
    (self.waiting, self.givenUp, self.forgotten, self.unheard) = (waiting, givenUp, forgotten, unheard)
  }
}
