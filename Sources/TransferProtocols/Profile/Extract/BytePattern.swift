/// A regular expression over bytes that runs in linear time, whatever a server sends: all alternatives are followed in
/// parallel (Pike's machine; R. Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009), so no text can
/// make it slow.
///
/// Supports literals, `.`, `[…]`, `\d \w \s` and their upper-case forms, `^ $`, groups, `|`, `* + ? {n,m}` and their
/// lazy forms, and `(?i)` at the start. There is no multi-line mode: `$` is the end of the text, and `.` any byte but a
/// line feed.
struct BytePattern: Sendable, Hashable {
  static let largestInput = 64 << 10
  static let mostInstructions = 1_000

  /// As written.
  let source: String
  let program: [Instruction]

  enum Instruction: Sendable, Hashable {
    case bytes(ByteSet)
    /// Continues at both places; the first is preferred.
    case split(Int, Int)
    case jump(Int)
    /// Saves the position: 0 and 1 for the whole match, 2 and 3 for the first group.
    case save(Int)
    case atStart
    case atEnd
    case match
  }

  init(_ source: String) throws(TemplateSyntaxFault) {
    self.source = source
    var compiler = PatternCompiler(source)
    program = try compiler.compile()
  }

  /// The text of the first match: its first group, or all of it if there is no group or the group did not participate.
  /// Searches the first 64 KiB.
  func firstMatch(in text: some Collection<UInt8>) -> [UInt8]? {
    var machine = PatternMachine(program, Array(text.prefix(Self.largestInput)))
    return machine.run()
  }

  func matches(_ text: some Collection<UInt8>) -> Bool { firstMatch(in: text) != nil }
}

/// A set of bytes.
struct ByteSet: Sendable, Hashable {
  private var words: [UInt64] = [0, 0, 0, 0]

  init() {}

  init(_ byte: UInt8) { insert(byte) }

  init(_ range: ClosedRange<UInt8>) { for byte in range { insert(byte) } }

  mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

  func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1 }

  mutating func formUnion(_ other: ByteSet) { for i in 0..<4 { words[i] |= other.words[i] } }

  var inverted: ByteSet {
    var out = self
    for i in 0..<4 { out.words[i] = ~words[i] }
    return out
  }

  /// Adds the other case of each ASCII letter in it.
  var caseless: ByteSet {
    var out = self
    for byte in UInt8(0x41)...0x5A {
      if contains(byte) { out.insert(byte | 0x20) }
      if contains(byte | 0x20) { out.insert(byte) }
    }
    return out
  }
}
