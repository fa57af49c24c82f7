public import TransferModel

extension TransferClient {
  /// Joins stores, the shards, in the store at `path`, which is made where there is none: for reports over all of them.
  /// It can be read like any other and not be worked with. Shards are known by their uid and may be named in any order,
  /// again and again: one that went on is merged further, one that did not costs a look. A copy of a store stands for
  /// its original. Shards stay as they are, and may be at work. Durable on return, shard by shard; a failure leaves out
  /// the shard that it names and those behind it.
  /// - Throws: `.usage` when `path` is a shard, errors of the store for a shard that is none or cannot be read: both
  ///   before anything is written. `.storeUnsuitable` for a store with work of its own, and for copies that went on
  ///   apart; `.storeCorrupt` for a damaged shard, `.storeFull` and others of the disk; `.locked` while another merge
  ///   is at work.
  public static func merge(_ shards: [String], into path: String) async throws(TransferError) -> [ShardMerge] {
    try await BlockingPool().run { () throws(TransferError) in
      try TransferStore(at: path).merge(shards, isCancelled: { false })
    }
  }
}
