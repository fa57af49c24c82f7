internal import Synchronization
internal import TransferModel

/// The progress of a running request, readable by other threads.
final class ByteCounter: Sendable {
  let value = Atomic<Int64>(0)
}

/// A request that a caller passed to the thread of a pool.
struct Order: Sendable {
  let id: ExchangeID
  let request: TransferRequest
  let refusal: RequestRefusal?
  let onReply: @Sendable (TransferReply) -> Void
  let counter = ByteCounter()
  /// Its connection serves no other request, because the pool is not that of its origin and credential.
  var isGuest = false
}
