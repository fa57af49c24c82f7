import CSys
import TransferModel

/// The clocks of the machine.
public struct SystemClock: TransferClock {
  public init() {}
  public var wallMs: Int64 { csys_realtime_ns() / 1_000_000 }
  /// Whether a time service synchronizes the wall clock; nil if unknown.
  public static var isSynchronized: Bool? {
    let answer = csys_clock_is_synchronized()
    return answer < 0 ? nil : answer == 1
  }
  public var bootMs: Int64 { csys_boottime_ns() / 1_000_000 }
  public var awakeMs: Int64 { csys_awake_ns() / 1_000_000 }
  public var processorMs: Int64? { csys_processor_ns() / 1_000_000 }
}
