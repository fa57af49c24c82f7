import TransferEngine
package import TransferModel

/// What a store needs of the world besides its files: clocks, and what carries requests. Tests put something else in
/// the place of both.
package struct Machine: Sendable {
  package var clock: any TransferClock
  /// Carries all requests, those of callbacks too; nil for libcurl. It stays: whoever made it stops it.
  package var transport: (any Transport)?

  package init(clock: any TransferClock, transport: (any Transport)? = nil) {
    (self.clock, self.transport) = (clock, transport)
  }

  /// The one that this process runs on.
  package static var this: Machine { Machine(clock: SystemClock()) }
}
