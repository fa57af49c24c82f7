/// A row number of one ledger. People see it with its letter (`b12`, `f345`); it means nothing in another ledger.
public protocol RowID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible
where RawValue == Int64 {
  static var letter: Character { get }
  init(rawValue: Int64)
}

extension RowID {
  /// The form that people type and read: the letter and the number.
  public var description: String { "\(Self.letter)\(rawValue)" }

  /// Reads `f345` or, without the letter, `345`; nil for anything else.
  public init?(text: String) {
    let digits = text.first == Self.letter ? text.dropFirst() : text[...]
    guard let number = Int64(digits), number > 0 else { return nil }
    self.init(rawValue: number)
  }

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One `add` or `push`.
public struct BatchID: RowID {
  public static let letter: Character = "b"
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One source file to one remote key in one generation.
public struct FileID: RowID {
  public static let letter: Character = "f"
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One byte range of a file.
public struct ChunkID: RowID {
  public static let letter: Character = "c"
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One request to a server.
public struct AttemptID: RowID {
  public static let letter: Character = "a"
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One upload session at a server.
package struct SessionID: RowID {
  package static let letter: Character = "s"
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One invocation of the engine.
public struct RunID: RowID {
  public static let letter: Character = "r"
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A UUID of version 7 (RFC 9562 section 5.7): unique across ledgers, so that they can be merged, and ordered by time.
package struct UID: Hashable, Sendable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new identifier for the wall-clock time `wallMs` (milliseconds since 1970 UTC) from 74 random bits.
  package static func make(wallMs: Int64, using generator: inout some RandomNumberGenerator) -> UID {
    let time = UInt64(bitPattern: wallMs) << 16
    let a = UInt64.random(in: 0...0x0FFF, using: &generator)
    let b = UInt64.random(in: 0...(UInt64.max >> 2), using: &generator)
    return UID(high: time | 0x7000 | a, low: b | (1 << 63))
  }

  /// A new identifier from a generator that the process seeded once from the system: identifiers have to be unique, not
  /// secret, and two system calls for each row would be noticeable.
  package static func make(wallMs: Int64) -> UID {
    generator.withLock { make(wallMs: wallMs, using: &$0) }
  }

  /// The same with 62 random bits and a check sum of the others, for a ledger: ``isChecked``.
  package static func makeChecked(wallMs: Int64) -> UID {
    let random = make(wallMs: wallMs)
    return UID(high: random.high & ~0x0FFF | random.checkSum, low: random.low)
  }

  /// Whether it was made by ``makeChecked(wallMs:)``; true by chance for one of 4,096 others.
  package var isChecked: Bool { high & 0x0FFF == checkSum }

  /// 12 bits that depend on all others (the finalizer of SplitMix64).
  private var checkSum: UInt64 {
    var mixed = high & ~0x0FFF
    for word in [low, 0x9E37_79B9_7F4A_7C15] {
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      mixed = (mixed ^ (mixed >> 31)) &+ word
    }
    return mixed >> 52
  }

  private static let generator = Lock(Xoroshiro128.seeded())

  /// The canonical 36 characters, lower case.
  package var description: String {
    var hex: [UInt8] = []
    hex.reserveCapacity(36)
    for i in 0..<32 {
      if i == 8 || i == 12 || i == 16 || i == 20 { hex.append(0x2D) }
      let word = i < 16 ? high : low
      let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (i % 16))) & 15
      hex.append(nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
    }
    return String(decoding: hex, as: UTF8.self)
  }

  /// Reads the 36-character form; nil for anything else.
  package init?(text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return nil }
    var words: [UInt64] = [0, 0]
    var digits = 0
    for (i, byte) in bytes.enumerated() {
      if i == 8 || i == 13 || i == 18 || i == 23 {
        guard byte == 0x2D else { return nil }
        continue
      }
      guard let value = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      words[digits / 16] = words[digits / 16] << 4 | UInt64(value)
      digits += 1
    }
    self.init(high: words[0], low: words[1])
  }
}

/// xoroshiro128++ of Blackman and Vigna: 128 bits of state, fast, not for secrets.
private struct Xoroshiro128: RandomNumberGenerator {
  var a: UInt64
  var b: UInt64

  static func seeded() -> Xoroshiro128 {
    var system = SystemRandomNumberGenerator()
    return Xoroshiro128(a: system.next(), b: system.next() | 1)
  }

  mutating func next() -> UInt64 {
    let result = rotated(a &+ b, 17) &+ a
    b ^= a
    a = rotated(a, 49) ^ b ^ (b << 21)
    b = rotated(b, 28)
    return result
  }

  private func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
}
