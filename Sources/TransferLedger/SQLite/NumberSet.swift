/// A set of row numbers, which lie close together: one bit for each.
struct NumberSet {
  private var pages: [Int64: [UInt64]] = [:]
  private(set) var count: Int64 = 0

  /// Returns whether the number is new.
  @discardableResult mutating func insert(_ number: Int64) -> Bool {
    let (word, bit) = Self.place(number)
    let isNew = pages[number >> 12, default: Array(repeating: 0, count: 64)][word] & bit == 0
    guard isNew else { return false }
    pages[number >> 12, default: Array(repeating: 0, count: 64)][word] |= bit
    count += 1
    return true
  }

  func contains(_ number: Int64) -> Bool {
    let (word, bit) = Self.place(number)
    return pages[number >> 12].map { $0[word] & bit != 0 } ?? false
  }

  private static func place(_ number: Int64) -> (word: Int, bit: UInt64) {
    (Int(number >> 6 & 63), 1 << UInt64(number & 63))
  }
}
