/// Text with `{{expressions}}`, compiled.
struct Template: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text([UInt8])
    case value(Expression)
  }

  let pieces: [Piece]

  /// Text without variables.
  init(text: String) { pieces = text.isEmpty ? [] : [.text(Array(text.utf8))] }

  /// Offsets in faults count bytes of `text`.
  init(parsing text: String) throws(TemplateSyntaxFault) {
    let bytes = Array(text.utf8)
    var pieces: [Piece] = []
    var position = 0
    while let open = Self.braces(0x7B, in: bytes, from: position) {
      if open > position { pieces.append(.text(Array(bytes[position..<open]))) }
      var parser = ExpressionParser(bytes[(open + 2)...])
      pieces.append(.value(try parser.expression()))
      _ = parser.isAtEnd
      guard bytes[parser.end...].starts(with: [0x7D, 0x7D]) else {
        throw TemplateSyntaxFault(offset: parser.end, message: "\"}}\" is missing after the expression")
      }
      position = parser.end + 2
    }
    if position < bytes.count { pieces.append(.text(Array(bytes[position...]))) }
    self.pieces = pieces
  }

  private static func braces(_ brace: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count - start >= 2 else { return nil }
    return (start..<bytes.count - 1).first { bytes[$0] == brace && bytes[$0 + 1] == brace }
  }

  func render(_ scope: ProfileScope) throws(RenderFault) -> [UInt8] {
    var out: [UInt8] = []
    for piece in pieces {
      switch piece {
      case .text(let bytes): out += bytes
      case .value(let expression): out += try expression.value(scope).bytes()
      }
    }
    return out
  }

  func text(_ scope: ProfileScope) throws(RenderFault) -> String {
    try TemplateValue.text(render(scope)).text()
  }

  /// The only expression, if the template consists of nothing else.
  var expression: Expression? {
    guard pieces.count == 1, case .value(let expression) = pieces[0] else { return nil }
    return expression
  }

  var expressions: [Expression] {
    pieces.compactMap { piece in
      if case .value(let expression) = piece { expression } else { nil }
    }
  }

  /// Whether it has the same value for every file, whatever servers answer.
  var isStatic: Bool {
    variables.allSatisfy { $0.root == "input" || $0.root == "file" || $0.root == "chunk" || $0.root == "uuid" }
  }

  var variables: [Expression.Variable] { expressions.flatMap(\.variables) }
}
