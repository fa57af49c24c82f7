import TransferModel

/// Keeps the store of a client open as long as the client, or a sequence that it returned, exists. Closing blocks, and
/// the last reference may be released by a Swift task; therefore a separate thread closes the store.
final class StoreOwner: Sendable {
  let store: OpenStore

  init(_ store: OpenStore) { self.store = store }

  deinit {
    if let thread = try? WorkerThread(to: "close the store", { [store] in store.close() }) {
      thread.detach()
    } else {
      store.close()
    }
  }
}
