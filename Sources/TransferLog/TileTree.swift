/// A Merkle tree (RFC 6962 section 2) over leaf hashes that are stored elsewhere. They are read in tiles of 256, like
/// those of C2SP tlog-tiles; of full tiles only the roots are kept in memory: 32 bytes for 256 leaves, and as much
/// again for the levels above. Used by one thread at a time.
public final class TileTree {
  /// A tile has 2^8 leaves.
  static let tileLevel = 8
  public static let tileLeaves: Int64 = 1 << 8

  public let size: Int64
  private var readTile: (Int64) throws -> [TreeHash]
  private let hasher = TreeHasher()
  /// Roots of the perfect subtrees of 2^8 leaves, of 2^9, and so on.
  private var upper: [[TreeHash]] = []
  private var tile: (number: Int64, levels: [[TreeHash]])?
  /// The last tile, which is not full: every path of a leaf needs it.
  private var lastTile: [[TreeHash]]?

  /// Reads every tile once.
  /// - Parameter readTile: returns the hashes of the leaves from number · 256 on: 256 of them, or fewer in the last
  ///   tile.
  public init(size: Int64, readTile: @escaping (Int64) throws -> [TreeHash]) throws {
    self.size = size
    self.readTile = readTile
    for number in 0..<(size >> Int64(Self.tileLevel)) {
      let levels = try levels(of: number)
      append(levels[Self.tileLevel][0])
    }
  }

  /// Reads tiles with `read` while `body` runs, because the original `readTile` may no longer work.
  public func reading<T>(_ read: @escaping (Int64) throws -> [TreeHash], _ body: () throws -> T) rethrows -> T {
    let before = readTile
    readTile = read
    defer { readTile = before }
    return try body()
  }

  /// The head of the tree of the first `size` leaves.
  public func head(_ size: Int64) throws -> TreeHash {
    precondition(size >= 0 && size <= self.size)
    return size == 0 ? TreeHash.ofEmptyTree : try hash(0, size)
  }

  public var head: TreeHash { get throws { try head(size) } }

  /// The audit path of a leaf in the tree of the first `size` leaves, from its sibling upwards: RFC 6962 section 2.1.1.
  public func inclusion(of leaf: Int64, in size: Int64) throws -> [TreeHash] {
    precondition(leaf >= 0 && leaf < size && size <= self.size)
    return try path(leaf, 0, size)
  }

  /// The proof that the tree of `old` leaves is the beginning of that of `new`: RFC 6962 section 2.1.2. Empty if there
  /// is nothing to prove: for no leaves, and for the same tree.
  public func consistency(from old: Int64, to new: Int64) throws -> [TreeHash] {
    precondition(old >= 0 && old <= new && new <= size)
    return old == 0 || old == new ? [] : try subproof(old, 0, new, isWhole: true)
  }

  // MARK: - The recursions of RFC 6962

  /// The hash of the leaves from `start` up to `end`. By the recursion, a range whose length is a power of two starts
  /// at a multiple of its length, so that it is a perfect subtree.
  private func hash(_ start: Int64, _ end: Int64) throws -> TreeHash {
    let count = end - start
    if count & (count - 1) == 0 {
      let level = count.trailingZeroBitCount
      return try node(level, start >> Int64(level))
    }
    let middle = start + Self.half(count)
    return hasher.node(try hash(start, middle), try hash(middle, end))
  }

  private func path(_ leaf: Int64, _ start: Int64, _ end: Int64) throws -> [TreeHash] {
    guard end - start > 1 else { return [] }
    let middle = start + Self.half(end - start)
    return leaf < middle
      ? try path(leaf, start, middle) + [try hash(middle, end)]
      : try path(leaf, middle, end) + [try hash(start, middle)]
  }

  private func subproof(_ old: Int64, _ start: Int64, _ end: Int64, isWhole: Bool) throws -> [TreeHash] {
    if old == end { return isWhole ? [] : [try hash(start, end)] }
    let middle = start + Self.half(end - start)
    return old <= middle
      ? try subproof(old, start, middle, isWhole: isWhole) + [try hash(middle, end)]
      : try subproof(old, middle, end, isWhole: false) + [try hash(start, middle)]
  }

  /// The greatest power of two that is less than `count`, which must be greater than 1.
  private static func half(_ count: Int64) -> Int64 { 1 << Int64(63 - (count - 1).leadingZeroBitCount) }

  // MARK: - Perfect subtrees

  private func node(_ level: Int, _ index: Int64) throws -> TreeHash {
    if level >= Self.tileLevel { return upper[level - Self.tileLevel][Int(index)] }
    let shift = Int64(Self.tileLevel - level)
    return try levels(of: index >> shift)[level][Int(index & ((1 << shift) - 1))]
  }

  /// The perfect subtrees within a tile by their level, leaves first.
  private func levels(of number: Int64) throws -> [[TreeHash]] {
    if let tile, tile.number == number { return tile.levels }
    let isLast = number == size >> Int64(Self.tileLevel)
    if isLast, let lastTile { return lastTile }
    var levels = [try readTile(number)]
    precondition(
      levels[0].count == min(Self.tileLeaves, size - number << Int64(Self.tileLevel)), "a tile has its leaves")
    while levels[levels.count - 1].count > 1 {
      let below = levels[levels.count - 1]
      levels.append(stride(from: 0, to: below.count - 1, by: 2).map { hasher.node(below[$0], below[$0 + 1]) })
    }
    if isLast { lastTile = levels } else { tile = (number, levels) }
    return levels
  }

  /// Appends the next root of a full tile, and the nodes above it that become complete.
  private func append(_ root: TreeHash) {
    var (level, node) = (0, root)
    while true {
      if level == upper.count { upper.append([]) }
      upper[level].append(node)
      let count = upper[level].count
      guard count.isMultiple(of: 2) else { return }
      node = hasher.node(upper[level][count - 2], upper[level][count - 1])
      level += 1
    }
  }
}
