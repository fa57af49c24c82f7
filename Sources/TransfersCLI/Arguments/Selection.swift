import Transfers
import TransferModel
import TransferReports

/// A selection as typed; ``Selection/filter(_:_:finds:)`` resolves it in a ledger.
struct Selection: Hashable, Sendable {
  var ids: [String] = []
  var batches: [String] = []
  var jobs: [String] = []
  var destinations: [String] = []
  var hosts: [String] = []
  var labels: [String] = []
  var paths: [NameBytes] = []
  var states: [String] = []
  var errors: [String] = []
  var since: String?
  var until: String?
  var facts = FileTerms()
  var all = false
  var last = false
  var hidden = false

  func with(labels: [String]) -> Selection {
    var selection = self
    selection.labels = labels
    return selection
  }

  /// The options that narrow the selection, by name.
  var narrowing: [String] {
    let said: [(String, Bool)] =
      [
        ("IDs", !ids.isEmpty), ("--batch", !batches.isEmpty), ("--job", !jobs.isEmpty),
        ("--dest", !destinations.isEmpty),
        ("--host", !hosts.isEmpty), ("--label", !labels.isEmpty), ("--path", !paths.isEmpty),
        ("--state", !states.isEmpty), ("--error", !errors.isEmpty), ("--since", since != nil),
        ("--until", until != nil),
        ("--last", last),
      ] + facts.options
    return said.filter(\.1).map(\.0)
  }

  /// Nothing was selected; not even everything.
  var isEmpty: Bool { narrowing.isEmpty && !all }

  /// The selection for the document's `filters`.
  var filters: [String: Cell] {
    let lists: [(String, [String])] = [
      ("ids", ids), ("batch", batches), ("job", jobs), ("dest", destinations), ("host", hosts), ("label", labels),
      ("path", paths.map { String(decoding: $0.bytes, as: UTF8.self) }), ("state", states), ("error", errors),
    ]
    var filters: [String: Cell] = [:]
    for (name, values) in lists where !values.isEmpty { filters[name] = .text(values.joined(separator: ",")) }
    if let since { filters["since"] = .text(since) }
    if let until { filters["until"] = .text(until) }
    filters.merge(facts.filters) { $1 }
    if last { filters["last"] = .flag(true) }
    if hidden { filters["hidden"] = .flag(true) }
    return filters
  }

  /// The kinds of IDs that a command accepts besides batches and files.
  enum Extra: Sendable { case none, chunks, attempts, sessions }

  /// Resolves the selection in this ledger. A nonexistent ID, batch, state or error code is an error, not an empty
  /// result. Reads standard input if an ID is `-`.
  func filter(_ ledger: OpenStore, _ context: Context, finds extra: Extra = .none) throws(CommandFailure) -> RowFilter {
    var filter = RowFilter()
    try addStates(to: &filter)
    try addErrors(to: &filter, ledger)
    try addTimes(to: &filter, ledger, context)
    filter.paths = paths.map(Self.wholePath)
    facts.add(to: &filter)
    try addIDs(to: &filter, ledger, extra)
    if !hidden, ids.isEmpty { filter.leavesOutHidden = try LedgerAccess.read(ledger) { try $0.hasHiddenRows() } }
    filter.withinBatches = intersection([try named(ledger), try described(ledger), filter.withinBatches])
    return filter
  }

  private func addStates(to filter: inout RowFilter) throws(CommandFailure) {
    for word in states {
      guard let (states, isBackingOff) = StateWord.states(word) else {
        throw .usage("no file state \"\(printable(word))\"", remedy: StateWord.known)
      }
      filter.states += states
      filter.isBackingOff = filter.isBackingOff || isBackingOff
    }
  }

  private func addErrors(to filter: inout RowFilter, _ ledger: OpenStore) throws(CommandFailure) {
    for glob in errors {
      guard try LedgerAccess.read(ledger, { try $0.knowsError(glob) }) else {
        throw .usage(
          "no error code \"\(printable(glob))\"", remedy: "a code or a glob: http.503, net.*; transfers report failures"
        )
      }
    }
    filter.errors = errors
  }

  private func addTimes(to filter: inout RowFilter, _ ledger: OpenStore, _ context: Context) throws(CommandFailure) {
    filter.sinceMs = try since.map { (text) throws(CommandFailure) in
      try time(text, context.origin("since"), ledger, context)
    }
    filter.untilMs = try until.map { (text) throws(CommandFailure) in
      try time(text, context.origin("until"), ledger, context)
    }
    if let since = filter.sinceMs, let until = filter.untilMs, until <= since {
      throw .usage("--until is not later than --since: the window is empty", remedy: "transfers help time")
    }
  }

  /// A moment as it was typed for an option, in milliseconds since 1970 UTC.
  func time(
    _ text: String, _ option: String, _ ledger: OpenStore, _ context: Context
  ) throws(CommandFailure) -> Int64 {
    guard let moment = Moment(text: text) else {
      throw .usage(
        "\(option) \"\(printable(text))\" is not a time",
        remedy: "24h, 7d, today, 2026-11-01, RFC 3339; transfers help time")
    }
    let run = moment == .lastRun ? try LedgerAccess.read(ledger, { try $0.newestRun() }) : nil
    guard let ms = moment.wallMs(context.clock, lastRunMs: run?.startedMs) else {
      throw .usage("\(option) last-run: no engine has run on this ledger yet", remedy: "transfers run")
    }
    return ms
  }

  /// Without a leading slash or star the end of the path is compared; with a trailing slash everything below matches.
  private static func wholePath(_ glob: NameBytes) -> NameBytes {
    let isWhole = glob.bytes.first == 0x2F || glob.bytes.first == 0x2A
    let below: [UInt8] = glob.bytes.last == 0x2F ? [0x2A] : []
    return NameBytes((isWhole ? [] : [0x2A, 0x2F]) + glob.bytes + below)
  }

  private func addIDs(to filter: inout RowFilter, _ ledger: OpenStore, _ extra: Extra) throws(CommandFailure) {
    var texts = ids.filter { $0 != "-" }
    if texts.count < ids.count { texts += try StandardInput.words() }
    if texts.isEmpty && !ids.isEmpty { filter.withinBatches = [] }
    for selector in try RowSelector.parse(texts, ledger, findsAttempts: extra == .attempts) {
      switch (selector.kind, extra) {
      case (.batch, _): filter.batches.append(selector.range)
      case (.file, _): filter.files.append(selector.range)
      case (.chunk, .chunks), (.chunk, .attempts): filter.chunks.append(selector.range)
      case (.attempt, .attempts): filter.attempts.append(selector.range)
      case (.session, .sessions): filter.sessions.append(selector.range)
      case (.chunk, _), (.attempt, _), (.session, _):
        throw .usage("\"\(selector.text)\" does not select files", remedy: "a batch b12 or a file f345")
      }
    }
    let (missing, pruned) = try LedgerAccess.read(ledger) { [filter] in
      let missing = try $0.firstMissing(filter)
      return (missing, try missing == nil ? nil : $0.firstPruned(filter))
    }
    if let pruned { throw .pruned(pruned) }
    if let missing { throw .noRow("\(missing)") }
  }

  /// The batches of `--batch` and `--last`; nil if neither was given.
  private func named(_ ledger: OpenStore) throws(CommandFailure) -> [Int64]? {
    var numbers: [Int64] = []
    for text in batches {
      let found = try LedgerAccess.read(ledger) { try $0.batches(named: text) }
      guard !found.isEmpty else {
        throw .usage("no batch \"\(printable(text))\" in this ledger", remedy: "transfers list batches")
      }
      numbers += found.map(\.rawValue)
    }
    if last {
      guard let id = try LedgerAccess.read(ledger, { try $0.newestBatch() }) else {
        throw .usage("this ledger has no batch yet", remedy: "transfers push SOURCE DESTINATION")
      }
      numbers.append(id.rawValue)
    }
    return batches.isEmpty && !last ? nil : numbers
  }

  /// The batches selected by labels, destinations and hosts; nil if none were given.
  private func described(_ ledger: OpenStore) throws(CommandFailure) -> [Int64]? {
    var terms = BatchTerms()
    (terms.destinations, terms.hosts, terms.jobs) = (destinations, hosts, jobs)
    for job in jobs {
      guard try !LedgerAccess.read(ledger, { try $0.knowsJob(job) }) else { continue }
      throw .usage("no job \"\(printable(job))\" in this ledger", remedy: "transfers job list")
    }
    for label in labels {
      let parts = label.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      terms.labels.append(BatchTerms.Label(key: String(parts[0]), value: String(parts[1])))
    }
    return terms.isEmpty ? nil : try LedgerAccess.read(ledger) { [terms] in try $0.batches(terms) }
  }

  private func intersection(_ sets: [[Int64]?]) -> [Int64]? {
    let said = sets.compactMap(\.self)
    guard var result = said.first else { return nil }
    for set in said.dropFirst() {
      let allowed = Set(set)
      result.removeAll { !allowed.contains($0) }
    }
    return result
  }
}

extension Selection {
  /// The same selection for another command line, with a space in front; empty for an empty one.
  var words: String {
    var words = ids.map(Self.quoted)
    func add(_ option: String, _ values: [String]) { for value in values { words += [option, Self.quoted(value)] } }
    add("--batch", batches)
    add("--job", jobs)
    add("--dest", destinations)
    add("--host", hosts)
    add("--label", labels)
    add("--path", paths.map(\.description))
    if !states.isEmpty { add("--state", [states.joined(separator: ",")]) }
    if !errors.isEmpty { add("--error", [errors.joined(separator: ",")]) }
    add("--since", [since].compactMap(\.self))
    add("--until", [until].compactMap(\.self))
    for (option, value) in facts.words { add(option, [value].compactMap(\.self)) }
    for (option, isSaid) in [
      ("--all", all), ("--last", last), ("--hidden", hidden), ("--unverified", facts.unverified),
    ]
    where isSaid {
      words.append(option)
    }
    return words.map { " " + $0 }.joined()
  }

  /// Quoted for a shell.
  static func quoted(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      $0.isASCII
        && ($0.properties.isAlphabetic || $0.properties.numericType != nil || "_@%+=:,./-".unicodeScalars.contains($0))
    }
    return isPlain && !word.isEmpty ? word : "'" + printable(word).replacing("'", with: #"'\''"#) + "'"
  }
}
