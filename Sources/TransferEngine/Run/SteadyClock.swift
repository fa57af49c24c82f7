import TransferModel

/// The clock of one run: the wall clock at its start, advanced by the boot clock. Setting the wall clock during the run
/// does not change any backoff.
public struct SteadyClock: TransferClock {
  private let base: any TransferClock
  private let offsetMs: Int64

  package init(_ base: any TransferClock = SystemClock()) {
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
