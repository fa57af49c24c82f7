/// Why a template cannot be compiled, and the byte offset in its text.
struct TemplateSyntaxFault: Error, Hashable {
  var offset: Int
  var message: String
}

/// Parses expressions by precedence climbing.
///
///     expression = operand { operator operand } { "|" filter [ "(" literal-or-variable { "," … } ")" ] }
///     operand    = "not" operand | "-" operand | number | 'text' | true | false | null | variable | "(" expression ")"
///     variable   = name { "." name | "[" expression "]" }
struct ExpressionParser {
  static let deepest = 24
  /// Maximum number of operators and filters in one expression: each makes the tree, which is walked recursively, one
  /// level deeper.
  static let longest = 256

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private var depth = 0
  private var parts = 0

  /// Parses the expression at the start of `bytes`; `end` is where it stops.
  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// Parses the whole text as one expression.
  static func parse(_ text: String) throws(TemplateSyntaxFault) -> Expression {
    var parser = ExpressionParser(Array(text.utf8)[...])
    let expression = try parser.expression()
    guard parser.isAtEnd else { throw parser.fault("the expression has trailing text") }
    return expression
  }

  var end: Int { position }

  var isAtEnd: Bool {
    mutating get {
      skipBlanks()
      return position == bytes.endIndex
    }
  }

  mutating func expression() throws(TemplateSyntaxFault) -> Expression {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw fault("the expression is nested deeper than \(Self.deepest) levels") }
    var result = try binary(above: 0)
    while take("|") {
      try countPart()
      let offset = position
      let name = try word("the name of a filter")
      let arguments = take("(") ? try arguments() : []
      do throws(FilterFault) {
        result = .filtered(result, try Filter(name, arguments))
      } catch {
        throw TemplateSyntaxFault(offset: offset, message: error.message)
      }
    }
    return result
  }

  private mutating func arguments() throws(TemplateSyntaxFault) -> [Expression] {
    if take(")") { return [] }
    var list: [Expression] = []
    repeat { list.append(try binary(above: 0)) } while take(",")
    guard take(")") else { throw fault("a \")\" is missing") }
    return list
  }

  private mutating func binary(above floor: Int) throws(TemplateSyntaxFault) -> Expression {
    var left = try operand()
    while let next = peekOperator(), next.precedence > floor {
      position += next.rawValue.utf8.count
      try countPart()
      left = .binary(next, left, try binary(above: next.precedence))
    }
    return left
  }

  private mutating func countPart() throws(TemplateSyntaxFault) {
    parts += 1
    guard parts <= Self.longest else {
      throw fault("the expression has more than \(Self.longest) operators and filters")
    }
  }

  private mutating func peekOperator() -> BinaryOperator? {
    skipBlanks()
    if let word = peekWord() { return BinaryOperator(rawValue: word).flatMap { $0.precedence <= 2 ? $0 : nil } }
    for length in [2, 1] where bytes.endIndex - position >= length {
      let text = String(decoding: bytes[position..<position + length], as: UTF8.self)
      if let found = BinaryOperator(rawValue: text) { return found }
    }
    return nil
  }

  private mutating func operand() throws(TemplateSyntaxFault) -> Expression {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw fault("the expression is nested deeper than \(Self.deepest) levels") }
    skipBlanks()
    guard position < bytes.endIndex else { throw fault("a value is missing") }
    switch bytes[position] {
    case 0x28:
      position += 1
      let inner = try expression()
      guard take(")") else { throw fault("a \")\" is missing") }
      return inner
    case 0x2D:
      position += 1
      return .negated(try operand())
    case 0x22, 0x27: return .literal(try quoted())
    case 0x30...0x39: return .literal(.int(try number()))
    default: return try named()
    }
  }

  private mutating func named() throws(TemplateSyntaxFault) -> Expression {
    let name = try word("a value")
    switch name {
    case "not": return .not(try operand())
    case "true", "false": return .literal(.bool(name == "true"))
    case "null": return .literal(.missing("null"))
    default: break
    }
    var accesses: [Expression.Access] = []
    while position < bytes.endIndex {
      if bytes[position] == 0x2E {
        position += 1
        accesses.append(.field(try word("a name after the dot")))
      } else if bytes[position] == 0x5B {
        position += 1
        accesses.append(.index(try expression()))
        guard take("]") else { throw fault("a \"]\" is missing") }
      } else {
        break
      }
    }
    return .variable(Expression.Variable(root: name, accesses: accesses))
  }

  private mutating func quoted() throws(TemplateSyntaxFault) -> TemplateValue {
    let quote = bytes[position]
    guard let end = bytes[(position + 1)...].firstIndex(of: quote) else { throw fault("the quoted text has no end") }
    defer { position = end + 1 }
    return .text(Array(bytes[(position + 1)..<end]))
  }

  private mutating func number() throws(TemplateSyntaxFault) -> Int64 {
    let digits = bytes[position...].prefix { (0x30...0x39).contains($0) }
    guard let value = Int64(String(decoding: digits, as: UTF8.self)) else { throw fault("the number is too large") }
    position = digits.endIndex
    return value
  }

  private mutating func word(_ what: String) throws(TemplateSyntaxFault) -> String {
    skipBlanks()
    guard let word = peekWord() else { throw fault("\(what) is missing") }
    position += word.utf8.count
    return word
  }

  private func peekWord() -> String? {
    let word = bytes[position...].prefix { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
      default: false
      }
    }
    guard let first = word.first, !(0x30...0x39).contains(first) else { return nil }
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard position < bytes.endIndex, UInt32(bytes[position]) == character.value else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() {
    while position < bytes.endIndex, bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) {
      position += 1
    }
  }

  private func fault(_ message: String) -> TemplateSyntaxFault {
    TemplateSyntaxFault(offset: position, message: message)
  }
}
