/// One request of a profile, and the meaning of its answer.
struct ProfileStep: Sendable, Hashable {
  /// Skipped unless this holds. For the step `chunk` it is evaluated for empty files only: bytes are always sent.
  var when: Expression?
  /// For `verify`: sent only while it is unknown whether the file exists.
  var isOfDoubt = false
  var method: String
  var url: Template
  var query: [TemplateField] = []
  var headers: [TemplateField] = []
  var body = BodyRules.none
  /// Sends the headers of `auth`.
  var usesAuth = true
  var expect = Expect.auto
  var timeout = StepTimeout()
  var success = SuccessRules()
  var extract: [ExtractTarget] = []
  /// The server's current offset, for protocols that append.
  var offset: OffsetRules?
  /// The findings of a probe.
  var have = HaveRules()
  var poll: PollRules?
  var rules: [ProfileRule] = []
  /// Sending the request twice does no more harm than sending it once.
  var isIdempotent: Bool

  enum Expect: String, Sendable, CaseIterable {
    case on = "100"
    case off, auto
  }

  /// RFC 9110 section 9.2.2 and RFC 4918; `MOVE` and `COPY` change what a second request finds.
  static func isIdempotent(_ method: String) -> Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND", "PROPPATCH", "MKCOL"].contains(method)
  }

  /// All variables in the request.
  var variables: [Expression.Variable] {
    (query + headers).flatMap(\.value.variables) + url.variables + body.variables
  }

  enum Comparisons { case all, required }

  /// All variables in the conditions on its answers, or in the requirements of its answer, and in its polling request.
  func comparedVariables(_ which: Comparisons) -> [Expression.Variable] {
    let conditions = rules.map(\.condition) + [have.exists, have.done, poll?.condition, offset?.when].compactMap { $0 }
    let successes = success.requirements.filter { which == .all || !$0.isOptional }
    let requirements = successes + conditions.flatMap(\.requirements)
    let asked = poll?.request.map { ($0.query + $0.headers).flatMap(\.value.variables) + $0.url.variables } ?? []
    return requirements.flatMap(\.everyVariable) + asked
  }
}

/// Time limits in milliseconds; nil for the program's default, and zero for no limit.
struct StepTimeout: Sendable, Hashable {
  var connectMs: Int64?
  var idleMs: Int64?
  var totalMs: Int64?
}

/// The conditions of a success: all of them must hold.
struct SuccessRules: Sendable, Hashable {
  var status = StatusSet.success
  var requirements: [Requirement] = []
}

/// A value to be extracted from an answer, and where it is stored.
struct ExtractTarget: Sendable, Hashable {
  enum Scope: String, Sendable, CaseIterable {
    case session, part, result
    /// Only for `auth.refresh`; kept in memory.
    case secret
  }

  var scope: Scope
  var name: String
  var extraction: Extraction

  /// Splits a key such as `session.token` in two.
  static func split(_ key: String) -> (scope: String, name: String) {
    let parts = key.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return (parts[0], parts.count > 1 ? parts[1] : "")
  }
}

struct OffsetRules: Sendable, Hashable {
  /// The number of bytes from the start of the file that the server has.
  var from: Extraction
  var when: Condition?
}

/// The meaning of the answer to a probe.
struct HaveRules: Sendable, Hashable {
  /// The length of the stored beginning, in bytes.
  var offset: Extraction?
  /// The numbers of the stored chunks, counted from `chunk.number_base`.
  var numbers: Extraction?
  /// The number of the next chunk that the server expects.
  var next: Extraction?
  /// Ranges that are missing: `start-end` (both inclusive) or `start-`.
  var missing: Extraction?
  /// The chunk is stored.
  var exists: Condition?
  /// The whole upload is complete.
  var done: Condition?

  var isEmpty: Bool { self == HaveRules() }
}

/// Polling while a server is processing.
struct PollRules: Sendable, Hashable {
  var condition: Condition
  /// Milliseconds.
  var everyMs: Int64 = 5_000
  var honoursRetryAfter = true
  /// Milliseconds since the first answer; after that the step fails.
  var maxMs: Int64 = 1_800_000
  /// The polling request; nil repeats the request of the step.
  var request: PollRequest?
}

struct PollRequest: Sendable, Hashable {
  var method: String
  var url: Template
  var query: [TemplateField]
  var headers: [TemplateField]
  var usesAuth: Bool
}

/// The body of a step.
enum BodyRules: Sendable, Hashable {
  case none
  /// `Content-Length: 0`
  case empty
  case raw
  case multipart([FormItem])
  case form([FormItem])
  case json(ValueTree)
  case xml(ValueTree)
  case text(Template)

  /// The body of a step that specifies none: a length of 0 for methods with content, which many servers require (RFC
  /// 9110 section 8.6).
  static func unnamed(_ method: String) -> BodyRules { ["POST", "PUT", "PATCH"].contains(method) ? .empty : .none }

  /// Whether it contains bytes of the file.
  var sendsFile: Bool {
    switch self {
    case .raw: true
    case .multipart(let items):
      items.contains { item in
        if case .file = item { true } else { false }
      }
    case .none, .empty, .form, .json, .xml, .text: false
    }
  }

  var variables: [Expression.Variable] {
    switch self {
    case .none, .empty, .raw: []
    case .multipart(let items), .form(let items): items.flatMap(\.variables)
    case .json(let tree), .xml(let tree): tree.variables
    case .text(let template): template.variables
    }
  }
}

enum FormItem: Sendable, Hashable {
  case field(TemplateField)
  case file(name: Template, filename: Template?, type: Template?)

  var variables: [Expression.Variable] {
    switch self {
    case .field(let field): field.value.variables
    case .file(let name, let filename, let type):
      name.variables + (filename?.variables ?? []) + (type?.variables ?? [])
    }
  }
}

/// The value of a JSON or XML body, with templates.
indirect enum ValueTree: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case number(String)
  case text(Template)
  case list([ValueTree])
  case map([Member])
  /// One value for each element of a list, available as `it`.
  case each(Expression, ValueTree)

  struct Member: Sendable, Hashable {
    var name: String
    var value: ValueTree
  }
  var variables: [Expression.Variable] {
    switch self {
    case .null, .bool, .int, .number: []
    case .text(let template): template.variables
    case .list(let trees): trees.flatMap(\.variables)
    case .map(let members): members.flatMap(\.value.variables)
    case .each(let list, let element): list.variables + element.variables
    }
  }
}
