import TransferModel

/// Keeps the store of a client open for as long as the client, or a sequence that it gave, is there. Closing blocks,
/// and the last of them may be let go by a Swift task: so a thread of its own does it.
final class StoreOwner: Sendable {
  let store: OpenStore

  init(_ store: OpenStore) { self.store = store }

  deinit {
    let thread = WorkerThread { [store] in store.close() }
    thread.detach()
  }
}
