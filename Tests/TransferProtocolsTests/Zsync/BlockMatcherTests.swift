import Testing
import TransferModel

@testable import TransferProtocols

/// Blocks that are found in an older file, compared with a search that computes everything anew at each position.
@Suite struct BlockMatcherTests {
  private func parts(
    _ scene: ZsyncScene, in seed: [UInt8], piece: Int = .max, goesOn: () -> Bool = { true }
  ) throws -> [FoundPart] {
    var matcher = BlockMatcher(try scene.published(), in: Int64(seed.count)) { buffer, offset throws(Failure) -> Int in
      let count = min(buffer.count, piece, max(0, seed.count - Int(offset)))
      for n in 0..<count { buffer[n] = seed[Int(offset) + n] }
      return count
    }
    return try matcher.parts(while: goesOn)
  }

  /// Each part that was found has the bytes that it claims.
  private func expectRight(_ parts: [FoundPart], _ scene: ZsyncScene, _ seed: [UInt8]) {
    var blocks: Set<Int> = []
    for part in parts {
      let (from, to) = (Int(part.range.offset), Int(part.range.end))
      #expect(part.offset >= 0 && Int(part.offset) + to - from <= seed.count)
      #expect(scene.bytes[from..<to].elementsEqual(seed[Int(part.offset)..<Int(part.offset) + to - from]))
      #expect(from % scene.blockLength == 0)
      for block in from / scene.blockLength..<(to + scene.blockLength - 1) / scene.blockLength {
        #expect(blocks.insert(block).inserted, "block \(block) twice")
      }
    }
  }

  private func length(_ parts: [FoundPart]) -> Int { parts.reduce(0) { $0 + Int($1.range.length) } }

  /// The blocks that the same rules find, without rolling sums, windows or an index.
  private func naive(_ scene: ZsyncScene, in seed: [UInt8]) -> Set<Int> {
    let (length, padded) = (scene.blockLength, seed + [UInt8](repeating: 0, count: 2 * scene.blockLength))
    let table = (0..<scene.count).map(scene.block)
    let needed = (0..<scene.count).map { min(length, scene.bytes.count - $0 * length) }
    var found: Set<Int> = []
    var (at, expected): (Int, Int?) = (0, nil)
    while at < seed.count {
      let here = Array(padded[at..<at + length])
      let fits = { (block: Int) in !found.contains(block) && table[block] == here && needed[block] <= seed.count - at }
      var block = expected.flatMap { fits($0) ? $0 : nil }
      if block == nil {
        let next = Array(padded[at + length..<at + 2 * length])
        block = (0..<max(0, scene.count - scene.sequence + 1)).first {
          fits($0) && (scene.sequence == 1 || table[$0 + 1] == next)
        }
      }
      guard let block else {
        (at, expected) = (at + 1, nil)
        continue
      }
      found.insert(block)
      (at, expected) = (at + length, block + 1 < scene.count ? block + 1 : nil)
    }
    return found
  }

  private func blocks(_ parts: [FoundPart], _ scene: ZsyncScene) -> Set<Int> {
    Set(
      parts.flatMap { part in
        Int(part.range.offset) / scene.blockLength..<(Int(part.range.end) + scene.blockLength - 1) / scene.blockLength
      })
  }

  /// A byte in front of everything: each block is there, a byte earlier.
  @Test func anInsertedByteMovesEverything() throws {
    let scene = ZsyncScene(bytes: [7] + ZsyncScene.random(100_000))
    let found = try parts(scene, in: Array(scene.bytes.dropFirst()))
    #expect(found == [FoundPart(range: ByteRange(offset: 1_024, length: 98_977), offset: 1_023)])
  }

  @Test func aRemovedByteMovesEverything() throws {
    let old = ZsyncScene.random(100_000)
    let scene = ZsyncScene(bytes: Array(old.dropFirst()))
    #expect(try parts(scene, in: old) == [FoundPart(range: ByteRange(offset: 0, length: 99_999), offset: 1)])
  }

  @Test func nothingIsFoundInOtherBytes() throws {
    let scene = ZsyncScene(bytes: ZsyncScene.random(50_000))
    #expect(try parts(scene, in: ZsyncScene.random(50_000)).isEmpty)
    #expect(try parts(scene, in: []).isEmpty)
    #expect(try parts(scene, in: [1]).isEmpty)
  }

  /// A single equal block between other bytes counts only where one is enough.
  @Test(arguments: [1, 2]) func aSingleBlockCountsByTheRule(_ sequence: Int) throws {
    var scene = ZsyncScene(bytes: ZsyncScene.random(20_480))
    (scene.sequence, scene.sumBytes, scene.digestBytes) = (sequence, 4, 16)
    let seed = ZsyncScene.random(3_000) + scene.block(5) + ZsyncScene.random(3_000)
    let expected = FoundPart(range: ByteRange(offset: 5 * 1_024, length: 1_024), offset: 3_000)
    #expect(try parts(scene, in: seed) == (sequence == 1 ? [expected] : []))
  }

  /// Edits at random places, with few values of bytes so that blocks are often alike.
  @Test(arguments: 0..<40) func theSameIsFoundAsByANaiveSearch(_ round: Int) throws {
    var generator = SystemRandomNumberGenerator()
    let values: ClosedRange<UInt8> = round % 2 == 0 ? 0...255 : 0...1
    func some(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: values, using: &generator) } }
    var scene = ZsyncScene(bytes: some(.random(in: 1...9_000)), blockLength: 256)
    (scene.sequence, scene.sumBytes) = (round % 4 < 2 ? 2 : 1, round % 3 + 2)
    scene.digestBytes = 16
    var seed = scene.bytes
    for _ in 0..<Int.random(in: 0...6) {
      let from = Int.random(in: 0...seed.count)
      let to = min(seed.count, from + .random(in: 0...700))
      seed.replaceSubrange(from..<to, with: some(.random(in: 0...700)))
    }
    if round % 5 == 0 { seed += seed.prefix(3_000) }
    let found = try parts(scene, in: seed)
    expectRight(found, scene, seed)
    #expect(blocks(found, scene) == naive(scene, in: seed))
  }

  /// The file that is read comes in pieces, and is longer than the window; a match lies across its end.
  @Test func windowsAreJoined() throws {
    let scene = ZsyncScene(bytes: ZsyncScene.random(2_500_000))
    let seed = [1, 2, 3] + scene.bytes
    let found = try parts(scene, in: seed, piece: 700_001)
    #expect(found == [FoundPart(range: ByteRange(offset: 0, length: 2_500_000), offset: 3)])
  }

  /// Equal blocks are all found in a file that has as many of them, and the work stays bounded in one that has more.
  @Test func equalBlocksAreFound() throws {
    let scene = ZsyncScene(bytes: [UInt8](repeating: 0, count: 300_000), blockLength: 256)
    let seed = [UInt8](repeating: 0, count: 300_000)
    expectRight(try parts(scene, in: seed), scene, seed)
    #expect(length(try parts(scene, in: seed)) == 300_000)
    #expect(length(try parts(scene, in: seed + seed)) == 300_000)
  }

  /// The older file has more zeros than the new one: what lies behind them is found.
  @Test func whatLiesBehindManyEqualBlocksIsFound() throws {
    let (first, middle, last) = (ZsyncScene.random(8_192), ZsyncScene.random(8_192), ZsyncScene.random(8_192))
    func zeros(_ blocks: Int) -> [UInt8] { [UInt8](repeating: 0, count: blocks * 256) }
    var scene = ZsyncScene(bytes: first + zeros(300) + middle + zeros(300) + last, blockLength: 256)
    for sequence in [1, 2] {
      (scene.sequence, scene.sumBytes, scene.digestBytes) = (sequence, 4, 16)
      let seed = first + zeros(1_000) + last + zeros(200) + middle
      expectRight(try parts(scene, in: seed), scene, seed)
      #expect(length(try parts(scene, in: seed)) == scene.bytes.count)
    }
  }

  /// Every position has the rolling checksum of a block, and none its MD4.
  @Test func aTableThatFitsEverywhereCostsLittle() throws {
    var scene = ZsyncScene(bytes: [UInt8](repeating: 1, count: 1 << 20), blockLength: 1 << 16)
    (scene.sequence, scene.sumBytes, scene.digestBytes) = (1, 1, 16)
    var file = scene.file
    for at in file.count - scene.table.count..<file.count where (file.count - at) % 17 != 0 { file[at] = 0xAA }
    let blocks = try ZsyncReader.read(file)
    let seed = [UInt8](repeating: 1, count: 1 << 20)
    var asked = 0
    var matcher = BlockMatcher(blocks, in: Int64(seed.count)) { buffer, offset throws(Failure) -> Int in
      asked += 1
      let count = min(buffer.count, max(0, seed.count - Int(offset)))
      for n in 0..<count { buffer[n] = seed[Int(offset) + n] }
      return count
    }
    var went = 0
    let found = try matcher.parts {
      went += 1
      return went < 50
    }
    // Without a limit, 64 GiB would be hashed; it is asked whether to go on after each 4 MiB.
    #expect(found.isEmpty && matcher.isGivenUp && asked == 2 && went < 10)
  }

  /// Zeros fill up the last block of the older file only for comparing: they cannot be copied from there.
  @Test func zerosBehindTheEndAreNotFound() throws {
    let seed = ZsyncScene.random(1_500)
    var scene = ZsyncScene(bytes: seed + [UInt8](repeating: 0, count: 548))
    (scene.sequence, scene.sumBytes) = (1, 4)
    #expect(try parts(scene, in: seed) == [FoundPart(range: ByteRange(offset: 0, length: 1_024), offset: 0)])
    // The last block of the file to be fetched is as short as what is there.
    scene.bytes = seed
    #expect(try parts(scene, in: seed) == [FoundPart(range: ByteRange(offset: 0, length: 1_500), offset: 0)])
  }

  @Test func itEndsWhenAsked() throws {
    let scene = ZsyncScene(bytes: ZsyncScene.random(3_000_000))
    var asked = 0
    let found = try parts(scene, in: scene.bytes) {
      asked += 1
      return asked < 2
    }
    #expect(asked == 2 && length(found) >= 1 << 20 && length(found) < 1_100_000)
  }

  /// A table that makes every position costly: it is asked whether to go on within a MiB, too.
  @Test func aCostlySearchEndsWhenAsked() throws {
    var scene = ZsyncScene(bytes: [UInt8](repeating: 1, count: 1 << 20), blockLength: 1 << 18)
    (scene.sequence, scene.sumBytes, scene.digestBytes) = (1, 4, 16)
    var file = scene.file
    // The MD4 of each entry.
    for end in stride(from: file.count, to: file.count - scene.table.count, by: -20) {
      for at in end - 16..<end { file[at] ^= 0xAA }
    }
    let seed = scene.bytes
    var matcher = BlockMatcher(try ZsyncReader.read(file), in: 1 << 20) { buffer, offset throws(Failure) -> Int in
      let count = min(buffer.count, max(0, seed.count - Int(offset)))
      for n in 0..<count { buffer[n] = seed[Int(offset) + n] }
      return count
    }
    var asked = 0
    let found = try matcher.parts {
      asked += 1
      return asked < 2
    }
    #expect(asked == 2 && found.isEmpty && !matcher.isGivenUp)
    #expect(try matcher.parts().isEmpty)
  }

  /// What was found before an error stays known.
  @Test func partsBeforeAnErrorAreKept() throws {
    let scene = ZsyncScene(bytes: ZsyncScene.random(2_500_000))
    var matcher = BlockMatcher(try scene.published(), in: 2_500_000) { buffer, offset throws(Failure) -> Int in
      if offset >= 2_000_000 { throw Failure(.sourceIO, "cannot read") }
      let count = min(buffer.count, 2_000_000 - Int(offset))
      for n in 0..<count { buffer[n] = scene.bytes[Int(offset) + n] }
      return count
    }
    #expect(throws: Failure.self) { try matcher.parts() }
    #expect(length(matcher.found) >= 1 << 20)
  }

  @Test func anErrorOfTheFileIsPassedOn() throws {
    let scene = ZsyncScene(bytes: ZsyncScene.random(5_000))
    var matcher = BlockMatcher(try scene.published(), in: 5_000) { _, _ throws(Failure) -> Int in
      throw Failure(.sourceIO, "cannot read")
    }
    #expect(throws: Failure.self) { try matcher.parts() }
  }
}
