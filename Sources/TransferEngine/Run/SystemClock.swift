import CSys
public import TransferModel

/// The clocks of the machine.
public struct SystemClock: TransferClock {
  public init() {}
  public var wallMs: Int64 { csys_realtime_ns() / 1_000_000 }
  public var bootMs: Int64 { csys_boottime_ns() / 1_000_000 }
}
