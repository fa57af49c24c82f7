/// The names that templates of one profile may use.
struct ProfileNames {
  /// The place of a template.
  enum Place {
    /// In headers for all steps and similar places.
    case anywhere
    case chunk
    /// In the requests before a chunk, when its bytes have not been read yet.
    case chunkAhead
    /// In the steps after all chunks are stored.
    case last
    /// In the request that creates a folder.
    case parent
    /// In `base_url`: values that do not change while a batch runs.
    case base

    /// The place of the templates of a step; nil for `auth.refresh`.
    init(of step: StepName?) {
      switch step {
      case nil: self = .anywhere
      case .chunk?: self = .chunk
      case .makeParent?: self = .parent
      case let step?: self = step.isOfChunk ? .chunkAhead : step.isLast ? .last : .anywhere
      }
    }
  }

  static let file = ["name", "path", "ext", "size", "mtime", "mime"]
  static let chunk = [
    "index", "number", "count", "start", "end", "end_exclusive", "size", "nominal_size", "last", "first", "range",
  ]
  /// The fields of each chunk in `parts` and `it`, besides those from the server.
  static let part = ["index", "number", "start", "end", "size"]
  static let predefinedSession = ["id"]
  static let predefinedInputs = ["url"]

  var fileHashes: [String] = []
  var chunkHashes: [String] = []
  var session: Set<String> = []
  var part: Set<String> = []
  var result: Set<String> = []
  var secret: Set<String> = []
  var inputs: Set<String> = []
  var secretInputs: Set<String> = []

  /// The error in the use of a variable there; nil if there is none.
  func complaint(_ variable: Expression.Variable, _ place: Place, inEach: Bool) -> String? {
    guard let fields = fields(variable.root, place, inEach: inEach) else {
      let roots = roots(place, inEach: inEach)
      if inputs.contains(variable.root) {
        return "there is no variable \"\(variable.root)\"; write input.\(variable.root)"
      }
      return "there is no variable \"\(variable.root)\" here; there are: \(roots.joined(separator: " "))"
    }
    guard !fields.isEmpty else { return nil }
    let field = variable.accesses.lazy.compactMap { access -> String? in
      if case .field(let field) = access { field } else { nil }
    }.first
    guard let field else {
      if variable.root == "now" || variable.root == "it" || variable.root == "parts" { return nil }
      return "\"\(variable.root)\" alone is not a value; it has: \(fields.sorted().joined(separator: " "))"
    }
    return fields.contains(field) ? nil : unknown(field, variable.root, fields)
  }

  private func unknown(_ field: String, _ root: String, _ fields: [String]) -> String {
    if ProfileHash(rawValue: field) != nil, root == "chunk" || root == "file" || root == "parts" || root == "it" {
      if root == "chunk", chunkHashes.contains(field) { return "digests of a chunk are known in the step chunk only" }
      let list = root == "file" ? "file.need" : "chunk.hash"
      return "\(root).\(field) is not computed: add \(field) to \(list)"
    }
    switch root {
    case "session", "part", "result", "secret":
      return "nothing extracts \(root).\(field)"
    case "input": return "there is no input \"\(field)\"; declare it in inputs"
    default: return "there is no \(root).\(field); there are: \(fields.joined(separator: " "))"
    }
  }

  private func roots(_ place: Place, inEach: Bool) -> [String] {
    var roots = ["file", "input", "uuid"]
    if place == .last { roots.append("chunks") }
    if place != .base { roots += ["session", "result", "now", "attempt"] }
    if !secret.isEmpty && place != .base { roots.append("secret") }
    if place == .chunk || place == .chunkAhead { roots += ["chunk", "part"] }
    if place == .last { roots.append("parts") }
    if place == .parent { roots.append("parent") }
    if inEach { roots.append("it") }
    return roots
  }

  /// The fields of a root; empty if it has none, nil if it is not available there.
  private func fields(_ root: String, _ place: Place, inEach: Bool) -> [String]? {
    guard roots(place, inEach: inEach).contains(root) else { return nil }
    switch root {
    // In the step `chunk` the digest is available when the answer to the last chunk is interpreted.
    case "file":
      return Self.file + fileHashes + (place == .last || place == .chunk ? [ProfileHash.crc32c.rawValue] : [])
    case "chunk": return Self.chunk + (place == .chunk ? chunkHashes : [])
    case "session": return Self.predefinedSession + session.sorted()
    case "part": return part.sorted() + [""]
    case "parts", "it": return Self.part + chunkHashes + part.sorted()
    case "result": return result.sorted() + [""]
    case "secret": return secret.sorted()
    case "input": return Self.predefinedInputs + inputs.sorted()
    case "parent": return ["path"]
    case "now": return ["unix"]
    default: return []
    }
  }
}
