import TransferModel

/// Which files may have an upload session at their servers. Sessions are few, so that files end one after the other
/// instead of all at once: a host has its share of them, and a batch no more than it may have requests at a time. A
/// value.
struct SessionSlots: Sendable {
  /// Where the session of a file would be.
  struct Place: Sendable, Hashable {
    var host: String
    var batch: BatchID
    /// Requests at a time that the batch is limited to; nil for no limit.
    var share: Int?
  }

  private var waiting = FIFO<FileID>()
  private var holders: [FileID: Place] = [:]
  private var ofHost: [String: Int] = [:]
  private var ofBatch: [BatchID: Int] = [:]

  /// Stands in line until ``next(mostPerHost:hosts:place:)`` gives it out.
  mutating func request(_ file: FileID) { waiting.append(file) }

  /// The next file that may begin its session now, which holds a slot from now on. `hosts` is how many there are;
  /// `place` says nil for a file that has left the engine meanwhile, which is dropped.
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

  /// The file has left the engine; nothing happens when it holds no slot.
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
