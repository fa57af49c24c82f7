import TransferEngine
package import TransferModel

/// External dependencies of a store besides its files: the clock and the transport, which tests replace; and the
/// connections that are kept between its openings.
package struct Machine: Sendable {
  package var clock: any TransferClock
  /// Carries all requests, including those of callbacks; nil for libcurl. It is not stopped here; its creator stops it.
  package var transport: (any Transport)?
  /// nil to open new connections whenever a store is opened.
  package var connections: StoreConnections?

  package init(
    clock: any TransferClock, transport: (any Transport)? = nil, connections: StoreConnections? = nil
  ) {
    (self.clock, self.transport, self.connections) = (clock, transport, connections)
  }

  /// The machine on which this process runs.
  package static var this: Machine { Machine(clock: SystemClock()) }
}
