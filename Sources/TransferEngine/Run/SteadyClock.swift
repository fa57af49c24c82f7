public import TransferModel

/// The clock of one run: the wall clock as it was at the beginning, moved on by the boot clock. Whoever sets the wall
/// clock in between, no backoff gets longer or shorter for it.
public struct SteadyClock: TransferClock {
  private let base: any TransferClock
  private let offsetMs: Int64

  public init(_ base: any TransferClock = SystemClock()) {
    self.base = base
    offsetMs = base.wallMs - base.bootMs
  }

  public var wallMs: Int64 { base.bootMs + offsetMs }
  public var bootMs: Int64 { base.bootMs }
  public var civilMs: Int64 { base.wallMs }
  public var awakeMs: Int64 { base.awakeMs }
  public var processorMs: Int64? { base.processorMs }
  public func machineMs(_ ms: Int64) -> Int64 { base.machineMs(ms) }
}
