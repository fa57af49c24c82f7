/// The clocks of the engine. Tests replace them; nothing else in the product asks the system for the time.
package protocol TransferClock: Sendable {
  /// Milliseconds since 1970 UTC. For rows, display and HTTP dates only; it may jump.
  var wallMs: Int64 { get }
  /// Milliseconds of CLOCK_BOOTTIME: never goes back, continues in sleep, starts from zero at boot. For deadlines and
  /// backoff.
  var bootMs: Int64 { get }
  /// The current wall clock, whereas ``wallMs`` may be based on an earlier reading: for times set by people and
  /// servers, deadlines and signatures.
  var civilMs: Int64 { get }
  /// Like ``bootMs`` without the time in which the machine slept: the difference of the two is the length of sleeps.
  var awakeMs: Int64 { get }
  /// CPU time of this process in milliseconds; nil if unknown.
  var processorMs: Int64? { get }
  /// How long a thread has to wait by the machine's own clock, in milliseconds, for `ms` of this clock to pass: less if
  /// this clock runs faster.
  func machineMs(_ ms: Int64) -> Int64
}

extension TransferClock {
  package var civilMs: Int64 { wallMs }
  package var awakeMs: Int64 { bootMs }
  package var processorMs: Int64? { nil }
  package func machineMs(_ ms: Int64) -> Int64 { ms }
}
