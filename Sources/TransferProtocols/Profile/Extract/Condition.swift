import TransferModel

/// A set of statuses: `[200-299, 404]`.
struct StatusSet: Sendable, Hashable {
  var ranges: [ClosedRange<Int>]

  func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

  static let success = StatusSet(ranges: [200...299])
}

/// A requirement on one value of an answer.
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
  /// Also holds if the answer has no such value.
  var isOptional = false
  /// Distinguishes our file from others: checked only while it is unknown whether the last step took effect.
  var isOfDoubt = false

  /// Whether the answer has the value.
  func isPresent(_ reply: ReplyReader) -> Bool { (try? source.values(in: reply))?.isEmpty == false }

  /// Whether it holds. For an unreadable answer only "does not exist" holds, and a missing value is not unequal to
  /// anything, unless `countsNothing`: then a missing value counts as different.
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

  var everyVariable: [Expression.Variable] {
    switch test {
    case .equal(let template), .unequal(let template): template.variables
    case .oneOf(let templates): templates.flatMap(\.variables)
    case .exists, .matches: []
    }
  }

  /// Whether it compares with this field of `root`.
  func names(_ root: String, field: String) -> Bool {
    variables.contains { $0.root == root && $0.accesses.first == .field(field) }
  }

  /// Whether it compares with a digest of `root`.
  func namesHash(of root: String) -> Bool {
    ProfileHash.allCases.contains { names(root, field: $0.rawValue) }
  }

  /// Whether it compares the content of the file or of a chunk.
  var isAboutContent: Bool {
    ["file", "chunk"].contains { namesHash(of: $0) || names($0, field: "size") }
  }

  /// Whether the answer lacks the value: a missing value is not a different one.
  func lacksValue(_ reply: ReplyReader) -> Bool {
    if case .exists = test { return false }
    return source.source != .body && !isPresent(reply)
  }

  /// For messages: the found and the expected value.
  func words(_ reply: ReplyReader, _ scope: ProfileScope) -> String {
    let found = (try? source.values(in: reply))?.first.map(Self.shown)
    let place = source.place
    guard found != nil || !lacksValue(reply) else {
      let wanted = if case .equal(let template) = test { Self.wanted(template, scope) } else { "a value" }
      return "\(place) is missing; the profile requires \(wanted)"
    }
    let (subject, text) = (source.source == .body ? "the answer" : place, found ?? "nothing")
    switch test {
    case .equal(let template): return "\(place) is \(text); the profile requires \(Self.wanted(template, scope))"
    case .unequal: return "\(place) is \(text), which the profile excludes"
    case .oneOf: return "\(place) is \(text), which the profile does not allow"
    case .exists(let isThere): return "\(place) is \(isThere ? "missing" : "there")"
    case .matches:
      return source.source == .body ? "\(subject) does not match" : "\(place) is \(text) and does not match"
    }
  }

  private static func wanted(_ template: Template, _ scope: ProfileScope) -> String {
    (try? template.render(scope)).map { shown(.text($0)) } ?? "another value"
  }

  /// A short value in quotes.
  private static func shown(_ value: TemplateValue) -> String {
    guard let bytes = try? value.bytes() else { return value.kind }
    return "\"\(printable(String(decoding: bytes.prefix(80), as: UTF8.self)))\""
  }
}

/// The condition of a rule, a `success` or a `poll`: all of its parts must hold.
struct Condition: Sendable, Hashable {
  var status: StatusSet?
  var requirements: [Requirement] = []
  /// CURLcodes; a completely received answer has code 0.
  var curl: Set<Int32>?
  /// One of these statuses was received in an earlier attempt of the same step.
  var seen: StatusSet?

  var isEmpty: Bool { status == nil && requirements.isEmpty && curl == nil && seen == nil }

  /// `earlier` are the statuses of earlier attempts of this step; `countsNothing` is as for a requirement.
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

  /// Why a value that it needs cannot be read; nil if all can be.
  func documentFault(_ reply: ReplyReader) -> String? {
    requirements.lazy.compactMap { reply.documentFault($0.source.source) }.first
  }

  var readsBody: Bool { requirements.contains { $0.source.source == .body } }
}
