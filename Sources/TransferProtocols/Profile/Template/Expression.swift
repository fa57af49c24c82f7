/// A compiled expression of a template or a `when`.
indirect enum Expression: Sendable, Hashable {
  case literal(TemplateValue)
  case variable(Variable)
  case not(Expression)
  case negated(Expression)
  case binary(BinaryOperator, Expression, Expression)
  case filtered(Expression, Filter)

  /// `session.urls[chunk.index]`: a root, with fields and indexes.
  struct Variable: Sendable, Hashable {
    var root: String
    var accesses: [Access]
  }

  enum Access: Sendable, Hashable {
    case field(String)
    case index(Expression)
  }
}

enum BinaryOperator: String, Sendable, Hashable {
  case or, and
  case equal = "=="
  case unequal = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case plus = "+"
  case minus = "-"
  case times = "*"
  case divided = "/"

  /// Higher values bind tighter.
  var precedence: Int {
    switch self {
    case .or: 1
    case .and: 2
    case .equal, .unequal, .less, .lessOrEqual, .greater, .greaterOrEqual: 3
    case .plus, .minus: 4
    case .times, .divided: 5
    }
  }
}

extension Expression {
  func value(_ scope: ProfileScope) throws(RenderFault) -> TemplateValue {
    switch self {
    case .literal(let value): return value
    case .variable(let variable): return try variable.value(scope)
    case .not(let operand): return .bool(!(try operand.value(scope).isTrue))
    case .negated(let operand):
      return .int(try Self.checked(Int64(0).subtractingReportingOverflow(operand.value(scope).integer())))
    case .filtered(let operand, let filter): return try filter.apply(to: operand.value(scope), scope)
    case .binary(let what, let a, let b): return try Self.binary(what, a, b, scope)
    }
  }

  private static func binary(
    _ what: BinaryOperator, _ a: Expression, _ b: Expression, _ scope: ProfileScope
  ) throws(RenderFault) -> TemplateValue {
    switch what {
    case .or:
      if try a.value(scope).isTrue { return .bool(true) }
      return .bool(try b.value(scope).isTrue)
    case .and:
      guard try a.value(scope).isTrue else { return .bool(false) }
      return .bool(try b.value(scope).isTrue)
    case .equal: return .bool(try a.value(scope).equals(b.value(scope)))
    case .unequal: return .bool(!(try a.value(scope).equals(b.value(scope))))
    default: return try arithmetic(what, a.value(scope).integer(), b.value(scope).integer())
    }
  }

  private static func arithmetic(_ what: BinaryOperator, _ a: Int64, _ b: Int64) throws(RenderFault) -> TemplateValue {
    switch what {
    case .less: return .bool(a < b)
    case .lessOrEqual: return .bool(a <= b)
    case .greater: return .bool(a > b)
    case .greaterOrEqual: return .bool(a >= b)
    case .plus: return .int(try checked(a.addingReportingOverflow(b)))
    case .minus: return .int(try checked(a.subtractingReportingOverflow(b)))
    case .times: return .int(try checked(a.multipliedReportingOverflow(by: b)))
    default:
      guard b != 0 else { throw RenderFault(.value, "a number is divided by zero") }
      return .int(try checked(a.dividedReportingOverflow(by: b)))
    }
  }

  private static func checked(_ result: (partialValue: Int64, overflow: Bool)) throws(RenderFault) -> Int64 {
    guard !result.overflow else { throw RenderFault(.overflow, "a result does not fit in 64 bits") }
    return result.partialValue
  }

  /// All variables in it.
  var variables: [Variable] {
    switch self {
    case .literal: return []
    case .variable(let variable):
      return [variable]
        + variable.accesses.flatMap { access -> [Variable] in
          if case .index(let index) = access { index.variables } else { [] }
        }
    case .not(let operand), .negated(let operand): return operand.variables
    case .filtered(let operand, let filter): return operand.variables + filter.arguments.flatMap(\.variables)
    case .binary(_, let a, let b): return a.variables + b.variables
    }
  }
}

extension Expression.Variable {
  /// As written, without indexes.
  var name: String {
    accesses.reduce(root) { name, access in
      if case .field(let field) = access { "\(name).\(field)" } else { "\(name)[…]" }
    }
  }

  func value(_ scope: ProfileScope) throws(RenderFault) -> TemplateValue {
    var value = scope.root(root)
    for access in accesses {
      switch access {
      case .field(let field): value = try Self.field(field, of: value, name)
      case .index(let index): value = try Self.element(index.value(scope).integer(), of: value, name)
      }
    }
    if case .missing = value { return .missing(name) }
    return value
  }

  /// A field of a list is the list of this field of all elements: `parts.etag`.
  private static func field(
    _ field: String, of value: TemplateValue, _ name: String
  ) throws(RenderFault) -> TemplateValue {
    switch value {
    case .record(let fields): return fields[field] ?? .missing(name)
    case .time(let ms) where field == "unix": return .int(ms.flooredSeconds)
    case .missing: return value
    case .list(let values):
      var fields: [TemplateValue] = []
      for value in values { fields.append(try Self.field(field, of: value, name)) }
      return .list(fields)
    default: throw RenderFault(.value, "\(name) does not exist: \".\(field)\" follows \(value.kind)")
    }
  }

  private static func element(
    _ index: Int64, of value: TemplateValue, _ name: String
  ) throws(RenderFault) -> TemplateValue {
    if case .missing = value { return value }
    guard case .list(let values) = value else { throw RenderFault(.value, "\(name): only a list has an index") }
    guard index >= 0, index < values.count else {
      throw RenderFault(.missing, "\(name) has \(values.count) elements, and number \(index) is asked for (from 0)")
    }
    return values[Int(index)]
  }
}
