/// One request of a profile and what its answer means.
struct ProfileStep: Sendable, Hashable {
  /// Left out unless this is so. Of the step chunk it is asked for empty files only: bytes are always sent.
  var when: Expression?
  /// Of verify: asked only while nobody knows whether the file is there.
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
  /// Where the server is now, for protocols that append.
  var offset: OffsetRules?
  /// What a probe found.
  var have = HaveRules()
  var poll: PollRules?
  var rules: [ProfileRule] = []
  /// Sending the request twice does no more harm than sending it once.
  var isIdempotent: Bool

  enum Expect: String, Sendable, CaseIterable {
    case on = "100"
    case off, auto
  }

  /// RFC 9110 section 9.2.2 and RFC 4918; `MOVE` and `COPY` change what the second one finds.
  static func isIdempotent(_ method: String) -> Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND", "PROPPATCH", "MKCOL"].contains(method)
  }

  /// Every variable in what it sends.
  var variables: [Expression.Variable] {
    (query + headers).flatMap(\.value.variables) + url.variables + body.variables
  }

  enum Comparisons { case all, required }

  /// Every variable in what it compares an answer with, or in what the answer must have, and in the request that it
  /// polls with.
  func comparedVariables(_ which: Comparisons) -> [Expression.Variable] {
    let conditions = rules.map(\.condition) + [have.exists, have.done, poll?.condition, offset?.when].compactMap { $0 }
    let successes = success.requirements.filter { which == .all || !$0.isOptional }
    let requirements = successes + conditions.flatMap(\.requirements)
    let asked = poll?.request.map { ($0.query + $0.headers).flatMap(\.value.variables) + $0.url.variables } ?? []
    return requirements.flatMap(\.everyVariable) + asked
  }
}

/// Time limits in milliseconds; nil takes the program's own, and zero means none.
struct StepTimeout: Sendable, Hashable {
  var connectMs: Int64?
  var idleMs: Int64?
  var totalMs: Int64?
}

/// When an answer is a success: all of it has to hold.
struct SuccessRules: Sendable, Hashable {
  var status = StatusSet.success
  var requirements: [Requirement] = []
}

/// A value that is taken from an answer, and where it is kept.
struct ExtractTarget: Sendable, Hashable {
  enum Scope: String, Sendable, CaseIterable {
    case session, part, result
    /// Of `auth.refresh` only; kept in memory.
    case secret
  }

  var scope: Scope
  var name: String
  var extraction: Extraction
}

struct OffsetRules: Sendable, Hashable {
  /// How many bytes from the start of the file the server has.
  var from: Extraction
  var when: Condition?
}

/// What an answer to a probe says.
struct HaveRules: Sendable, Hashable {
  /// The length of the beginning that is there, in bytes.
  var offset: Extraction?
  /// The numbers of the chunks that are there, counted as `chunk.number_base` says.
  var numbers: Extraction?
  /// The number of the chunk that the server wants next.
  var next: Extraction?
  /// Ranges that are missing: `start-end` (both inclusive) or `start-`.
  var missing: Extraction?
  /// The chunk is there.
  var exists: Condition?
  /// The whole upload is complete.
  var done: Condition?

  var isEmpty: Bool { self == HaveRules() }
}

/// Asking again while a server works.
struct PollRules: Sendable, Hashable {
  var condition: Condition
  /// Milliseconds.
  var everyMs: Int64 = 5_000
  var honoursRetryAfter = true
  /// Milliseconds since the first answer; then it is a failure.
  var maxMs: Int64 = 1_800_000
  /// What is sent to ask; nil repeats the request of the step.
  var request: PollRequest?
}

struct PollRequest: Sendable, Hashable {
  var method: String
  var url: Template
  var query: [TemplateField]
  var headers: [TemplateField]
  var usesAuth: Bool
}

/// What a step sends.
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

  /// What a step sends that names no body: a length of 0 with methods that carry content, which many servers insist on
  /// (RFC 9110 section 8.6).
  static func unnamed(_ method: String) -> BodyRules { ["POST", "PUT", "PATCH"].contains(method) ? .empty : .none }

  /// Carries bytes of the file.
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

/// The value of a JSON or XML body, with templates in it.
indirect enum ValueTree: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case number(String)
  case text(Template)
  case list([ValueTree])
  case map([Member])
  /// One value for each element of a list, which `it` names.
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
