/// Non-negative integers in as few bytes as they need, 7 bits a byte (LEB128): how a sum stores a long list.
enum PackedNumbers {
  static func pack(_ numbers: some Sequence<Int64>) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in numbers { append(number, to: &bytes) }
    return bytes
  }

  static func append(_ number: Int64, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Leaves out a truncated number at the end of damaged bytes.
  static func unpack(_ bytes: [UInt8]) -> [Int64] {
    var (numbers, rest) = ([Int64](), bytes[...])
    while let number = first(of: &rest) { numbers.append(number) }
    return numbers
  }

  /// Removes and returns the first number; nil if there is none, or if it is truncated.
  static func first(of rest: inout ArraySlice<UInt8>) -> Int64? {
    var (number, shift) = (UInt64(0), UInt64(0))
    while let byte = rest.popFirst() {
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: number) }
      shift += 7
    }
    return nil
  }

  /// Pairs of consecutive numbers: first, second, first, second, …
  static func pairs(_ bytes: [UInt8]) -> [(Int64, Int64)] {
    let numbers = unpack(bytes)
    return stride(from: 0, to: numbers.count - 1, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
  }
}
