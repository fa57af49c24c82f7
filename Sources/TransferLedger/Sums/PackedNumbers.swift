/// Whole numbers from 0 in as few bytes as they need, 7 bits a byte (LEB128): how a sum keeps a long list.
enum PackedNumbers {
  static func pack(_ numbers: some Sequence<Int64>) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in numbers {
      var rest = UInt64(bitPattern: number)
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    return bytes
  }

  /// What is cut off at the end of damaged bytes is left out.
  static func unpack(_ bytes: some Sequence<UInt8>) -> [Int64] {
    var numbers: [Int64] = []
    var (number, shift) = (UInt64(0), UInt64(0))
    for byte in bytes {
      number |= UInt64(byte & 0x7F) << shift
      shift += 7
      guard byte < 0x80 else { continue }
      numbers.append(Int64(bitPattern: number))
      (number, shift) = (0, 0)
    }
    return numbers
  }

  /// Pairs, of numbers that follow each other: first, second, first, second, …
  static func pairs(_ bytes: some Sequence<UInt8>) -> [(Int64, Int64)] {
    let numbers = unpack(bytes)
    return stride(from: 0, to: numbers.count - 1, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
  }
}
