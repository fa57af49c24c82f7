import TransferModel

/// Decides which files may have an upload session. The number of sessions is limited so that files complete one after
/// the other instead of all at once: each host has a share of them, and a batch no more than its concurrent requests. A
/// value.
struct SessionSlots: Sendable {
  /// The host and batch of a session.
  struct Place: Sendable, Hashable {
    var host: String
    var batch: BatchID
    /// The limit of concurrent requests of the batch; nil for no limit.
    var share: Int?
  }

  private var waiting = FIFO<FileID>()
  private var holders: [FileID: Place] = [:]
  private var ofHost: [String: Int] = [:]
  private var ofBatch: [BatchID: Int] = [:]

  /// Queues a file until ``next(mostPerHost:hosts:place:)`` returns it.
  mutating func request(_ file: FileID) { waiting.append(file) }

  /// The next file that may begin its session now, which holds a slot from now on. `hosts` is the number of hosts;
  /// `place` returns nil for a file that was released meanwhile, which is dropped.
  mutating func next(mostPerHost: Int, hosts: Int, place: (FileID) -> Place?) -> FileID? {
    while !waiting.isEmpty, ofHost.values.count(where: { $0 >= mostPerHost }) < hosts {
      let fits = { [ofHost, ofBatch] (file: FileID) in
        guard let place = place(file) else { return true }
        return ofHost[place.host, default: 0] < mostPerHost
          && ofBatch[place.batch, default: 0] < place.share ?? .max
      }
      guard let file = waiting.popFirst(where: fits) else { return nil }
      guard let place = place(file) else { continue }
      holders[file] = place
      ofHost[place.host, default: 0] += 1
      ofBatch[place.batch, default: 0] += 1
      return file
    }
    return nil
  }

  /// The file was released; no effect if it holds no slot.
  mutating func release(_ file: FileID) {
    guard let place = holders.removeValue(forKey: file) else { return }
    Self.takeOne(&ofHost, place.host)
    Self.takeOne(&ofBatch, place.batch)
  }

  private static func takeOne<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
    let left = (counts[key] ?? 1) - 1
    counts[key] = left > 0 ? left : nil
  }
}
