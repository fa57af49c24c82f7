public import TransferModel

extension TransferClient {
  /// Merges stores (shards) into the store at `path`, for reports over all of them; creates that store if it does not
  /// exist. It can be read like any other store, but not used for transfers. Shards are identified by their uid and may
  /// be named in any order and repeatedly: only what is new in a shard is merged; an unchanged shard only costs a
  /// check. A copy of a store is treated as its original. Shards are not modified, and may be in use. Durable on
  /// return, shard by shard; a failure skips the shard that it names and all after it.
  /// - Throws: `.usage` when `path` is a shard, errors of the store for a shard that is not a store or cannot be read:
  ///   both before anything is written. `.storeUnsuitable` for a store with its own transfers, and for copies that have
  ///   diverged; `.storeCorrupt` for a damaged shard, `.storeFull` and other errors of the disk; `.locked` while
  ///   another merge is running.
  public static func merge(_ shards: [String], into path: String) async throws(TransferError) -> [ShardMerge] {
    try await BlockingPool().run { () throws(TransferError) in
      try TransferStore(at: path).merge(shards, isCancelled: { false })
    }
  }
}
