/// Compiles the text of a ``BytePattern``.
struct PatternCompiler {
  static let deepest = 16
  static let mostRepeats = 200

  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0
  private var groups = 0
  private var ignoresCase = false

  init(_ source: String) { bytes = Array(source.utf8) }

  private typealias Program = [BytePattern.Instruction]

  mutating func compile() throws(TemplateSyntaxFault) -> [BytePattern.Instruction] {
    if bytes.starts(with: Array("(?i)".utf8)) {
      ignoresCase = true
      position = 4
    }
    let body = try alternatives()
    guard position == bytes.count else { throw fault("a \")\" has no \"(\"") }
    let program: Program = [.save(0)] + Self.moved(body, by: 1) + [.save(1), .match]
    try check(program)
    return program
  }

  /// Targets are relative to the start of a piece until the piece is placed.
  private static func moved(_ program: Program, by distance: Int) -> Program {
    program.map { instruction in
      switch instruction {
      case .split(let a, let b): .split(a + distance, b + distance)
      case .jump(let a): .jump(a + distance)
      default: instruction
      }
    }
  }

  private static func joined(_ a: Program, _ b: Program) -> Program { a + moved(b, by: a.count) }

  private func check(_ program: Program) throws(TemplateSyntaxFault) {
    guard program.count <= BytePattern.mostInstructions else { throw fault("the pattern is too large") }
  }

  private mutating func alternatives() throws(TemplateSyntaxFault) -> Program {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw fault("the pattern is nested deeper than \(Self.deepest) levels") }
    var branches = [try sequence()]
    while take(0x7C) { branches.append(try sequence()) }
    var program = branches.removeLast()
    for branch in branches.reversed() {
      let behind = branch.count + 2
      let head: Program = [.split(1, behind)] + Self.moved(branch, by: 1) + [.jump(behind + program.count)]
      program = Self.joined(head, program)
      try check(program)
    }
    return program
  }

  private mutating func sequence() throws(TemplateSyntaxFault) -> Program {
    var program: Program = []
    while let byte = next, byte != 0x7C, byte != 0x29 {
      program = Self.joined(program, try repeated(try atom()))
      try check(program)
    }
    return program
  }

  private mutating func repeated(_ atom: Program) throws(TemplateSyntaxFault) -> Program {
    guard let (least, most) = try bounds() else { return atom }
    let isLazy = take(0x3F)
    func split(_ inside: Int, _ outside: Int) -> BytePattern.Instruction {
      isLazy ? .split(outside, inside) : .split(inside, outside)
    }
    var program: Program = []
    for _ in 0..<least {
      program = Self.joined(program, atom)
      try check(program)
    }
    guard let most else {
      let loop = [split(1, atom.count + 2)] + Self.moved(atom, by: 1) + [.jump(0)]
      return Self.joined(program, loop)
    }
    for _ in least..<most {
      // Each optional copy skips only itself: the ones after it are optional too.
      program = Self.joined(program, [split(1, atom.count + 1)] + Self.moved(atom, by: 1))
      try check(program)
    }
    return program
  }

  /// nil if nothing is repeated; an upper bound of nil means no limit.
  private mutating func bounds() throws(TemplateSyntaxFault) -> (Int, Int?)? {
    if take(0x2A) { return (0, nil) }
    if take(0x2B) { return (1, nil) }
    if take(0x3F) { return (0, 1) }
    guard take(0x7B) else { return nil }
    guard let least = number() else { throw fault("a number is missing after \"{\"") }
    var most: Int? = least
    if take(0x2C) { most = next == 0x7D ? nil : number() }
    guard take(0x7D), most.map({ $0 >= least }) ?? true else { throw fault("the bounds in \"{…}\" are invalid") }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let digits = bytes[position...].prefix { (0x30...0x39).contains($0) }
    guard let value = Int(String(decoding: digits, as: UTF8.self)), value <= Self.mostRepeats else { return nil }
    position = digits.endIndex
    return value
  }

  private mutating func atom() throws(TemplateSyntaxFault) -> Program {
    let byte = bytes[position]
    position += 1
    switch byte {
    case 0x28: return try group()
    case 0x5B: return [.bytes(cased(try set()))]
    case 0x2E: return [.bytes(ByteSet(0x0A).inverted)]
    case 0x5E: return [.atStart]
    case 0x24: return [.atEnd]
    case 0x5C: return [.bytes(cased(try escaped()))]
    case 0x2A, 0x2B, 0x3F: throw fault("there is nothing before the repetition")
    default: return [.bytes(cased(ByteSet(byte)))]
    }
  }

  private func cased(_ set: ByteSet) -> ByteSet { ignoresCase ? set.caseless : set }

  private mutating func group() throws(TemplateSyntaxFault) -> Program {
    var isCapturing = true
    if take(0x3F) {
      guard take(0x3A) else { throw fault("of the groups that begin with \"(?\" only \"(?:\" is known") }
      isCapturing = false
    }
    if isCapturing { groups += 1 }
    let isFirst = isCapturing && groups == 1
    let body = try alternatives()
    guard take(0x29) else { throw fault("a \")\" is missing") }
    return isFirst ? [.save(2)] + Self.moved(body, by: 1) + [.save(3)] : body
  }

  private mutating func set() throws(TemplateSyntaxFault) -> ByteSet {
    let isInverted = take(0x5E)
    var set = ByteSet()
    var isFirst = true
    while let byte = next, byte != 0x5D || isFirst {
      isFirst = false
      position += 1
      guard byte < 0x80 else { throw fault("only ASCII is allowed between brackets") }
      guard byte != 0x5C else {
        set.formUnion(try escaped())
        continue
      }
      if next == 0x2D, position + 1 < bytes.count, bytes[position + 1] != 0x5D {
        let last = bytes[position + 1]
        position += 2
        guard last >= byte, last < 0x80, last != 0x5C else { throw fault("the range in the brackets is invalid") }
        set.formUnion(ByteSet(byte...last))
      } else {
        set.insert(byte)
      }
    }
    guard take(0x5D) else { throw fault("a \"]\" is missing") }
    return isInverted ? set.inverted : set
  }

  private mutating func escaped() throws(TemplateSyntaxFault) -> ByteSet {
    guard let byte = next else { throw fault("there is nothing after the last \"\\\"") }
    position += 1
    switch byte {
    case 0x64: return Self.digits
    case 0x44: return Self.digits.inverted
    case 0x77: return Self.word
    case 0x57: return Self.word.inverted
    case 0x73: return Self.blanks
    case 0x53: return Self.blanks.inverted
    case 0x6E: return ByteSet(0x0A)
    case 0x72: return ByteSet(0x0D)
    case 0x74: return ByteSet(0x09)
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: throw fault("this escape is not known")
    default: return ByteSet(byte)
    }
  }

  private static let digits = ByteSet(0x30...0x39)
  private static let blanks = {
    var set = ByteSet(0x09...0x0D)
    set.insert(0x20)
    return set
  }()
  private static let word = {
    var set = digits
    set.formUnion(ByteSet(0x41...0x5A))
    set.formUnion(ByteSet(0x61...0x7A))
    set.insert(0x5F)
    return set
  }()

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private func fault(_ message: String) -> TemplateSyntaxFault {
    TemplateSyntaxFault(offset: position, message: message)
  }
}
