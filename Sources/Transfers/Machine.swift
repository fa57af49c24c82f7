import TransferEngine
package import TransferModel

/// External dependencies of a store besides its files: the clock and the transport. Tests replace both.
package struct Machine: Sendable {
  package var clock: any TransferClock
  /// Carries all requests, including those of callbacks; nil for libcurl. It is not stopped here; its creator stops it.
  package var transport: (any Transport)?

  package init(clock: any TransferClock, transport: (any Transport)? = nil) {
    (self.clock, self.transport) = (clock, transport)
  }

  /// The machine on which this process runs.
  package static var this: Machine { Machine(clock: SystemClock()) }
}
