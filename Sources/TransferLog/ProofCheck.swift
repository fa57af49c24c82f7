/// Checks proofs without the tree.
public enum ProofCheck {
  /// Whether the path leads from the leaf to the head: RFC 9162 section 2.1.3.2.
  public static func includes(
    _ leaf: TreeHash, at index: Int64, in size: Int64, head: TreeHash, path: [TreeHash]
  ) -> Bool {
    guard index >= 0, index < size else { return false }
    let hasher = TreeHasher()
    var (place, last, hash) = (index, size - 1, leaf)
    for sibling in path {
      guard last > 0 else { return false }
      if place & 1 == 1 || place == last {
        hash = hasher.node(sibling, hash)
        while place & 1 == 0 && place != 0 { (place, last) = (place >> 1, last >> 1) }
      } else {
        hash = hasher.node(hash, sibling)
      }
      (place, last) = (place >> 1, last >> 1)
    }
    return last == 0 && hash == head
  }

  /// Whether the tree of `old` leaves is the beginning of that of `new`: RFC 9162 section 2.1.4.2.
  public static func isConsistent(
    _ old: Int64, _ oldHead: TreeHash, _ new: Int64, _ newHead: TreeHash, proof: [TreeHash]
  ) -> Bool {
    guard old >= 0, old <= new else { return false }
    if old == 0 { return proof.isEmpty && oldHead == TreeHash.ofEmptyTree }
    if old == new { return proof.isEmpty && oldHead == newHead }
    let path = old & (old - 1) == 0 ? [oldHead] + proof : proof
    guard let first = path.first else { return false }
    let hasher = TreeHasher()
    var (place, last) = (old - 1, new - 1)
    while place & 1 == 1 { (place, last) = (place >> 1, last >> 1) }
    var (before, after) = (first, first)
    for hash in path.dropFirst() {
      guard last > 0 else { return false }
      if place & 1 == 1 || place == last {
        (before, after) = (hasher.node(hash, before), hasher.node(hash, after))
        while place & 1 == 0 && place != 0 { (place, last) = (place >> 1, last >> 1) }
      } else {
        after = hasher.node(after, hash)
      }
      (place, last) = (place >> 1, last >> 1)
    }
    return last == 0 && before == oldHead && after == newHead
  }
}
