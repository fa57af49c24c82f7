import HTTPServer
import TransferModel

/// The query parameters of a request, as options of the command that answers it. Only names in this list become
/// options; values never do.
struct ServeTerms {
  private(set) var ids: [String] = []
  private var options: [(name: String, value: String?)] = []

  /// Options that select rows.
  private static let selecting: Set<String> = [
    "batch", "job", "dest", "host", "label", "path", "state", "error", "since", "until", "direction", "min-size",
    "max-size",
    "slower-than", "attempts",
  ]
  private static let selectingFlags: Set<String> = ["unverified", "last", "hidden", "all"]
  /// Options of reports and lists.
  private static let arranging: Set<String> = ["limit", "sort", "by", "bucket", "sla", "facet", "columns", "format"]
  private static let verbFlags: Set<String> = ["now", "dry-run", "failed", "reset", "map"]

  init() {}

  /// Throws `.usage` for a name that is not allowed in requests, and for an invalid ID.
  init(_ terms: [HTTPRequest.Term]) throws(CommandFailure) {
    for term in terms { try add(term.name, term.value) }
  }

  private mutating func add(_ name: String, _ value: NameBytes) throws(CommandFailure) {
    let text = EscapedArgument.encode(value.bytes)
    if name == "id" {
      for id in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard ServeRoute.isID(String(id)) else { throw .usage("\"\(printable(String(id)))\" is not an ID") }
        ids.append(String(id))
      }
    } else if Self.selectingFlags.contains(name) || Self.verbFlags.contains(name) {
      guard ["", "true"].contains(text) else { throw .usage("\(printable(name)) must be true, or omitted") }
      options.append((name, nil))
    } else if Self.selecting.contains(name) || Self.arranging.contains(name) {
      guard !text.isEmpty else { throw .usage("\(printable(name)) has no value") }
      options.append((name, text))
    } else {
      throw .usage("no parameter \"\(printable(name))\" here", remedy: "the selection of transfers help selectors")
    }
  }

  /// The selection that the server was started with, except where these parameters replace it. `all` selects all of it;
  /// an explicit batch replaces the last one.
  func within(_ base: ServeTerms) -> ServeTerms {
    var terms = self
    let said = Set(options.map(\.name))
    if ids.isEmpty { terms.ids = base.ids }
    terms.options += base.options.filter { option in
      !said.contains(option.name) && !(option.name == "last" && said.contains("batch"))
    }
    if !terms.ids.isEmpty || terms.options.contains(where: { Self.selecting.contains($0.name) || $0.name == "last" }) {
      terms.options.removeAll { $0.name == "all" }
    }
    return terms
  }

  /// The same for a verb, which changes nothing outside of that selection: parameters of the same kind must be equal,
  /// and given files must be in the given batches. Throws `.usage` for others.
  func confined(to base: ServeTerms) throws(CommandFailure) -> ServeTerms {
    for (name, value) in options where Self.selecting.contains(name) {
      let allowed = base.options.filter { $0.name == name }.map(\.value)
      guard allowed.isEmpty || allowed.contains(value) else {
        throw .usage("serve was started with another --\(name), and verbs stay within it")
      }
    }
    var terms = within(base)
    if base.has("last"), !terms.has("last") { terms.options.append(("last", nil)) }
    guard !ids.isEmpty, !base.ids.isEmpty, !Set(ids).isSubset(of: base.ids) else { return terms }
    // Batches of the verb would take the place of those that the server was started for.
    guard !terms.has("batch"), let batches = Self.batches(base.ids) else {
      throw .usage("serve was started for other IDs, and verbs stay within them")
    }
    terms.options += batches.map { ("batch", $0) }
    return terms
  }

  /// The batches of IDs such as `b3` and `b5-b7`, one by one; nil if other rows are among them, or too many.
  private static func batches(_ ids: [String]) -> [String]? {
    var found: [String] = []
    for id in ids {
      let ends = id.split(separator: "-", omittingEmptySubsequences: false)
      let numbers = ends.compactMap { $0.first == "b" ? Int64($0.dropFirst()) : nil }
      guard numbers.count == ends.count, ends.count <= 2, let first = numbers.first, let last = numbers.last,
        first > 0, last >= first, last - first < 1_000
      else { return nil }
      found += (first...last).map { "b\($0)" }
    }
    return found.count <= 1_000 ? found : nil
  }

  /// Whether they select rows by themselves. An option that only adds hidden rows does not.
  var isSelection: Bool {
    !ids.isEmpty
      || options.contains { Self.selecting.contains($0.name) || ["last", "all", "unverified"].contains($0.name) }
  }

  func has(_ name: String) -> Bool { options.contains { $0.name == name } }

  subscript(name: String) -> String? { options.last { $0.name == name }?.value }

  mutating func add(_ name: String, _ value: String) { options.append((name, value)) }

  /// The arguments, to be put before options that the server adds.
  var words: [String] {
    ids + options.map { option in option.value.map { "--\(option.name)=\($0)" } ?? "--\(option.name)" }
  }
}

extension Selection {
  /// The same as query parameters of a request.
  var terms: [HTTPRequest.Term] {
    func each(_ name: String, _ values: [String]) -> [HTTPRequest.Term] {
      values.map { HTTPRequest.Term(name, NameBytes(EscapedArgument.decode($0))) }
    }
    var terms = each("id", ids) + each("batch", batches) + each("job", jobs) + each("dest", destinations)
    terms += each("host", hosts) + each("label", labels) + paths.map { HTTPRequest.Term("path", $0) }
    terms += each("state", states) + each("error", errors)
    terms += each("since", [since].compactMap(\.self)) + each("until", [until].compactMap(\.self))
    for (option, value) in facts.words { terms += each(String(option.dropFirst(2)), [value].compactMap(\.self)) }
    for (name, isSaid) in [("last", last), ("hidden", hidden), ("all", all), ("unverified", facts.unverified)]
    where isSaid {
      terms += each(name, ["true"])
    }
    return terms
  }
}
