import CDigest
public import TransferModel

/// A part of a file to be fetched that an older file has at any offset, as far as weak checksums show.
public struct FoundPart: Sendable, Hashable {
  /// In the file to be fetched.
  package var range: ByteRange
  /// Where the older file has it.
  public var offset: Int64

  package init(range: ByteRange, offset: Int64) { (self.range, self.offset) = (range, offset) }
}

/// Finds published blocks in an older file, at any offset: by the rolling checksum, confirmed by MD4. Where the
/// published checksums are short, the first block of a match counts only if the next one follows it.
public struct BlockMatcher {
  private let blocks: PublishedBlocks
  private var index: BlockIndex
  private let size: Int64
  private let window: SeedWindow
  /// Position in the older file.
  private var at: Int64 = 0
  /// The block that is expected there, because the one before it was found in front of it.
  private var expected: Int?
  private var isFound: [UInt64]
  private var left: Int
  /// The parts that were found so far, in the order of the older file; each block at most once.
  public private(set) var found: [FoundPart] = []
  /// How much more may be hashed, in bytes: a table can be made so that every position seems to match.
  private var budget: Int64
  /// ``budget`` when it was last asked whether to continue.
  private var askedAt: Int64
  private var isStopped = false

  /// - Parameters:
  ///   - size: of the older file, in bytes.
  ///   - read: fills the buffer from an offset of the older file; returns the number of bytes, 0 at its end.
  public init(
    _ blocks: PublishedBlocks, in size: Int64,
    _ read: @escaping (UnsafeMutableRawBufferPointer, Int64) throws(Failure) -> Int
  ) {
    (self.blocks, self.size) = (blocks, size)
    index = BlockIndex(blocks)
    window = SeedWindow(blocks.blockLength, read)
    isFound = [UInt64](repeating: 0, count: blocks.count / 64 + 1)
    left = blocks.count
    budget = 4 * min(size, .max / 8) + 64 * Int64(blocks.blockLength)
    askedAt = budget
  }

  /// The search ended before the end of the older file, because too many positions seemed to match.
  public var isGivenUp: Bool { budget <= 0 && at < size && left > 0 }

  /// Searches the older file; returns ``found``.
  /// - Parameter goesOn: asked about once a MiB, and after some MiB of hashing; if it says no, the search ends.
  public mutating func parts(while goesOn: () -> Bool = { true }) throws(Failure) -> [FoundPart] {
    while at < size, budget > 0, left > 0, !isStopped, goesOn() {
      try window.move(to: at)
      match(to: min(size, at + Int64(SeedWindow.positions)), goesOn)
    }
    return found
  }

  private static let askedEvery: Int64 = 4 << 20

  private mutating func continues(_ goesOn: () -> Bool) -> Bool {
    guard budget > 0, !isStopped else { return false }
    guard askedAt - budget >= Self.askedEvery else { return true }
    askedAt = budget
    isStopped = !goesOn()
    return !isStopped
  }

  /// All positions before `end`, which the window covers.
  private mutating func match(to end: Int64, _ goesOn: () -> Bool) {
    while at < end, left > 0, continues(goesOn) {
      guard let block = expected, fits(block), blocks.matches(block, md4: md4(at)) else {
        expected = nil
        scan(to: end, goesOn)
        continue
      }
      take(block)
    }
  }

  /// Takes the first block of the next match; without one, moves to `end`.
  private mutating func scan(to end: Int64, _ goesOn: () -> Bool) {
    guard !index.isEmpty else { return at = size }
    var sums = window.sums(at: at)
    var from = 0
    while at < end, continues(goesOn) {
      at += Int64(index.find(window.bytes(at: at), from: from, count: Int(end - at), &sums))
      guard at < end else { return }
      if let block = first(with: sums) { return take(block) }
      from = 1
    }
  }

  /// The block with which a match begins here.
  private mutating func first(with sums: cdigest_block_sums) -> Int? {
    let key = index.key(sums)
    budget -= 1
    if index.isExhausted(key) { return nil }
    budget -= 31
    var (here, next): ([UInt8]?, [UInt8]?)
    var place = index.start(key)
    for count in 0..<Self.mostAlike {
      guard let alike = index.block(key, from: place, { [isFound] in Self.contains(isFound, $0) }) else {
        if count == 0 { index.exhaust(key) }
        return nil
      }
      place = alike.place + 1
      budget -= 8
      guard fits(alike.block) else { continue }
      let digest = here ?? md4(at)
      here = digest
      guard blocks.matches(alike.block, md4: digest) else { continue }
      guard blocks.sequence == 2 else { return alike.block }
      let second = next ?? md4(at + Int64(blocks.blockLength))
      next = second
      if blocks.matches(alike.block + 1, md4: second) { return alike.block }
    }
    return nil
  }

  /// Blocks with the same checksums that are compared at one position. A file of equal blocks has millions; those
  /// behind the first are found with the run that begins there.
  private static let mostAlike = 256

  /// It was not found before, and the older file has all of it here.
  private func fits(_ block: Int) -> Bool {
    !Self.contains(isFound, block) && blocks.range(block).length <= size - at
  }

  private static func contains(_ found: [UInt64], _ block: Int) -> Bool {
    found[block / 64] >> UInt64(block % 64) & 1 != 0
  }

  private mutating func take(_ block: Int) {
    isFound[block / 64] |= 1 << UInt64(block % 64)
    left -= 1
    let range = blocks.range(block)
    if let last = found.last, last.range.end == range.offset, last.offset + last.range.length == at {
      let joined = ByteRange(offset: last.range.offset, length: last.range.length + range.length)
      found[found.count - 1] = FoundPart(range: joined, offset: last.offset)
    } else {
      found.append(FoundPart(range: range, offset: at))
    }
    at += Int64(blocks.blockLength)
    expected = block + 1 < blocks.count ? block + 1 : nil
  }

  private mutating func md4(_ offset: Int64) -> [UInt8] {
    budget -= Int64(blocks.blockLength)
    var digest = [UInt8](repeating: 0, count: 16)
    cdigest_md4(window.bytes(at: offset), blocks.blockLength, &digest)
    return digest
  }
}

/// A part of the older file in memory, followed by zeros at its end.
private final class SeedWindow {
  /// Positions at which two whole blocks are in the window.
  static let positions = 1 << 20

  private let blockLength: Int
  private let buffer: UnsafeMutableRawBufferPointer
  private let read: (UnsafeMutableRawBufferPointer, Int64) throws(Failure) -> Int
  private var start: Int64 = 0

  init(_ blockLength: Int, _ read: @escaping (UnsafeMutableRawBufferPointer, Int64) throws(Failure) -> Int) {
    (self.blockLength, self.read) = (blockLength, read)
    buffer = .allocate(byteCount: Self.positions + 2 * blockLength, alignment: 16)
  }

  deinit { buffer.deallocate() }

  func move(to offset: Int64) throws(Failure) {
    start = offset
    var filled = 0
    while filled < buffer.count {
      let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), offset + Int64(filled))
      if count == 0 { break }
      filled += count
    }
    buffer[filled...].initializeMemory(as: UInt8.self, repeating: 0)
  }

  func bytes(at offset: Int64) -> UnsafePointer<UInt8> {
    UnsafePointer(buffer.baseAddress!.assumingMemoryBound(to: UInt8.self)) + Int(offset - start)
  }

  func sums(at offset: Int64) -> cdigest_block_sums {
    cdigest_block_sums(
      first: cdigest_block_sum(bytes(at: offset), blockLength),
      second: cdigest_block_sum(bytes(at: offset + Int64(blockLength)), blockLength))
  }
}
