import Testing
import TransferLog
import TransferModel

/// The definitions of RFC 6962 section 2.1 verbatim, over all leaves at once: the reference for the tree.
private enum Oracle {
  static var hasher: TreeHasher { TreeHasher() }

  static func head(_ leaves: ArraySlice<TreeHash>) -> TreeHash {
    if leaves.isEmpty { return hasher.hash([]) }
    if leaves.count == 1 { return leaves.first! }
    let (left, right) = halves(leaves)
    return hasher.node(head(left), head(right))
  }

  static func path(_ m: Int, _ leaves: ArraySlice<TreeHash>) -> [TreeHash] {
    guard leaves.count > 1 else { return [] }
    let (left, right) = halves(leaves)
    return m < left.count ? path(m, left) + [head(right)] : path(m - left.count, right) + [head(left)]
  }

  static func proof(_ m: Int, _ leaves: ArraySlice<TreeHash>, _ isWhole: Bool = true) -> [TreeHash] {
    if m == leaves.count { return isWhole ? [] : [head(leaves)] }
    let (left, right) = halves(leaves)
    return m <= left.count
      ? proof(m, left, isWhole) + [head(right)] : proof(m - left.count, right, false) + [head(left)]
  }

  private static func halves(_ leaves: ArraySlice<TreeHash>) -> (ArraySlice<TreeHash>, ArraySlice<TreeHash>) {
    var k = 1
    while k * 2 < leaves.count { k *= 2 }
    return (leaves.prefix(k), leaves.dropFirst(k))
  }
}

private func tree(_ leaves: [TreeHash]) throws -> TileTree {
  try TileTree(size: Int64(leaves.count)) { tile in Array(leaves.dropFirst(Int(tile) * 256).prefix(256)) }
}

private func leaves(_ count: Int) -> [TreeHash] {
  let hasher = TreeHasher()
  return (0..<count).map { hasher.leaf(Array("leaf \($0)".utf8)) }
}

@Suite struct TreeTests {
  /// The inputs and heads of Certificate Transparency's own tests: merkle_tree_test of
  /// google/certificate-transparency.
  @Test func publishedHeads() throws {
    let inputs = [
      "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    ]
    let heads = [
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
      "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
      "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
      "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    let hasher = TreeHasher()
    let all = try inputs.map { hasher.leaf(try #require(bytesFromHex($0))) }
    let tree = try tree(all)
    for (size, head) in zip(1..., heads) { #expect(hexText(try tree.head(Int64(size)).bytes) == head) }
    #expect(
      hexText(try tree.head(0).bytes) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test func everyProofOfSmallTreesIsThatOfTheDefinition() throws {
    let all = leaves(40)
    for size in 1...all.count {
      let tree = try tree(Array(all.prefix(size)))
      let head = try tree.head
      #expect(head == Oracle.head(all.prefix(size)))
      for leaf in 0..<size {
        let path = try tree.inclusion(of: Int64(leaf), in: Int64(size))
        #expect(path == Oracle.path(leaf, all.prefix(size)))
        #expect(ProofCheck.includes(all[leaf], at: Int64(leaf), in: Int64(size), head: head, path: path))
        #expect(!ProofCheck.includes(all[(leaf + 1) % 40], at: Int64(leaf), in: Int64(size), head: head, path: path))
        #expect(!ProofCheck.includes(all[leaf], at: Int64(leaf), in: Int64(size), head: all[0], path: path + [head]))
      }
      for old in 1...size {
        let proof = try tree.consistency(from: Int64(old), to: Int64(size))
        let oldHead = try tree.head(Int64(old))
        #expect(proof == (old == size ? [] : Oracle.proof(old, all.prefix(size))))
        #expect(ProofCheck.isConsistent(Int64(old), oldHead, Int64(size), head, proof: proof))
        #expect(!ProofCheck.isConsistent(Int64(old), all[39], Int64(size), head, proof: proof))
        #expect(old == size || !ProofCheck.isConsistent(Int64(old), oldHead, Int64(size), all[39], proof: proof))
      }
    }
  }

  @Test(arguments: [255, 256, 257, 511, 512, 513, 1_000, 70_000])
  func treesOfManyTilesAreThoseOfTheDefinition(_ size: Int) throws {
    let all = leaves(size)
    let tree = try tree(all)
    let head = try tree.head
    #expect(head == Oracle.head(all[...]))
    for leaf in [0, 1, 255, 256, size / 2, size - 1] where leaf < size {
      let path = try tree.inclusion(of: Int64(leaf), in: Int64(size))
      #expect(ProofCheck.includes(all[leaf], at: Int64(leaf), in: Int64(size), head: head, path: path))
    }
    for old in [1, 254, 255, 256, size / 3, size - 1] where old < size {
      let proof = try tree.consistency(from: Int64(old), to: Int64(size))
      let oldHead = try tree.head(Int64(old))
      #expect(oldHead == Oracle.head(all.prefix(old)))
      #expect(ProofCheck.isConsistent(Int64(old), oldHead, Int64(size), head, proof: proof))
    }
  }
}
