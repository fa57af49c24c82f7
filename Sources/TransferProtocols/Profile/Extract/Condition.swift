import TransferModel

/// A set of statuses: `[200-299, 404]`.
struct StatusSet: Sendable, Hashable {
  var ranges: [ClosedRange<Int>]

  func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

  static let success = StatusSet(ranges: [200...299])
}

/// A claim about one value of an answer.
struct Requirement: Sendable, Hashable {
  enum Test: Sendable, Hashable {
    case equal(Template)
    case unequal(Template)
    case oneOf([Template])
    case exists(Bool)
    case matches(BytePattern)
  }

  var source: Extraction
  var test: Test
  /// Holds also when the answer has no such value.
  var isOptional = false
  /// Tells our file from somebody else's: asked only while nobody knows whether the last step took effect.
  var isOfDoubt = false

  /// The answer has the value.
  func isPresent(_ reply: ReplyReader) -> Bool { (try? source.values(in: reply))?.isEmpty == false }

  /// Whether it holds. An answer that cannot be read holds nothing but "does not exist", and without a value there is nothing
  /// that could be unequal, unless `countsNothing`: then no value is another one.
  func holds(
    _ reply: ReplyReader, _ scope: ProfileScope, countsNothing: Bool = false
  ) throws(RenderFault) -> Bool {
    let values = (try? source.values(in: reply)) ?? []
    if isOptional && values.isEmpty { return true }
    switch test {
    case .exists(let isThere): return values.isEmpty != isThere
    case .matches(let pattern): return values.contains { value in (try? value.bytes()).map(pattern.matches) ?? false }
    case .equal(let wanted): return try Self.any(values, equals: wanted, scope)
    case .unequal(let wanted):
      guard countsNothing || !values.isEmpty else { return false }
      return try !Self.any(values, equals: wanted, scope)
    case .oneOf(let list):
      for wanted in list where try Self.any(values, equals: wanted, scope) { return true }
      return false
    }
  }

  private static func any(
    _ values: [TemplateValue], equals wanted: Template, _ scope: ProfileScope
  ) throws(RenderFault) -> Bool {
    let wanted = TemplateValue.text(try wanted.render(scope))
    for value in values where try value.equals(wanted) { return true }
    return false
  }

  private var variables: [Expression.Variable] {
    switch test {
    case .equal(let template): template.variables
    case .unequal, .oneOf, .exists, .matches: []
    }
  }

  /// It says that something equals this field of `root`.
  func names(_ root: String, field: String) -> Bool {
    variables.contains { $0.root == root && $0.accesses.first == .field(field) }
  }

  /// It says that something equals a digest of `root`.
  func namesHash(of root: String) -> Bool {
    ProfileHash.allCases.contains { names(root, field: $0.rawValue) }
  }

  /// For messages: what was looked at, and what it should have been.
  var words: String {
    switch test {
    case .equal: "\(source.place) is not what the profile requires"
    case .unequal: "\(source.place) is what the profile excludes"
    case .oneOf: "\(source.place) is none of what the profile allows"
    case .exists(let isThere): "\(source.place) is \(isThere ? "missing" : "there")"
    case .matches: "\(source.place) does not match"
    }
  }
}

/// What a rule, a `success` or a `poll` asks of an answer: everything that is named has to hold.
struct Condition: Sendable, Hashable {
  var status: StatusSet?
  var requirements: [Requirement] = []
  /// CURLcodes; an answer that came whole has code 0.
  var curl: Set<Int32>?
  /// One of these was answered before, in an earlier attempt of the same step.
  var seen: StatusSet?

  var isEmpty: Bool { status == nil && requirements.isEmpty && curl == nil && seen == nil }

  /// `earlier` are the statuses of the attempts of this step before this one; `countsNothing` as for a requirement.
  func holds(
    _ reply: ReplyReader, _ scope: ProfileScope, earlier: Set<Int>, countsNothing: Bool = false
  ) throws(RenderFault) -> Bool {
    if let status, !status.contains(reply.status) { return false }
    if let curl, !curl.contains(reply.curlCode) { return false }
    if let seen, !earlier.contains(where: seen.contains) { return false }
    for requirement in requirements where !(try requirement.holds(reply, scope, countsNothing: countsNothing)) {
      return false
    }
    return true
  }

  /// Why something that it asks about cannot be read; nil when all of it can.
  func documentFault(_ reply: ReplyReader) -> String? {
    requirements.lazy.compactMap { reply.documentFault($0.source.source) }.first
  }

  var readsBody: Bool { requirements.contains { $0.source.source == .body } }
}
