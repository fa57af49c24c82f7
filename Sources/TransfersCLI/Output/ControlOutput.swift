import Transfers
import TransferModel
import TransferReports

/// The words of a control verb for its output.
struct ControlWords: Sendable {
  /// `pause`.
  let verb: String
  /// `remove`, where the command has another name.
  var phrase: String?
  /// `paused`.
  let done: String
  /// The state that the verb leads to; files in it are unchanged.
  var goal: FileState?
  /// The suggested next command, with the selection; nil for none.
  var next: String?
  /// `next` is for when no engine runs.
  var nextNeedsNoEngine = false
}

/// What a control verb did, or with `-n` would do.
struct ControlOutput: OutputValue {
  static let idLimit = 1000

  /// The state of the engine that owned some of the files.
  enum Engine: String, Sendable { case none, running, recovered }

  let dryRun: Bool
  /// Files: changed at once; requested from the engine, within a second; unchanged.
  let changed, asked, unaffected: Int
  let unaffectedByState: [String: Int]
  /// Number of unaffected files of a retry that must be pushed again.
  let mustBePushed: Int
  /// Unaffected files of a retry that may have arrived.
  private let uncertain: [FileID]
  /// Number of changed files whose sources would have been deleted or moved, and are kept.
  let keptSources: Int
  /// Number of changed files whose sources a run had begun to remove.
  private let going: Int
  /// IDs of the changed and requested files; only the first thousand if something was changed.
  let ids: [String]
  let engine: Engine
  let next: String?
  private let words: ControlWords
  private let recovery: Recovery?

  init(
    _ words: ControlWords, _ outcome: ControlOutcome, dryRun: Bool, engineRuns: Bool, recovery: Recovery?
  ) {
    self.words = words
    self.recovery = recovery
    self.dryRun = dryRun
    (changed, asked) = (outcome.changed.count, outcome.asked.count)
    unaffected = outcome.unaffected.values.reduce(0, +)
    unaffectedByState = Dictionary(uniqueKeysWithValues: outcome.unaffected.map { ($0.key.rawValue, $0.value) })
    mustBePushed = outcome.unrepeatable
    (keptSources, going, uncertain) = (outcome.keptSources, outcome.going.count, outcome.uncertain)
    let all = (outcome.changed + outcome.asked).sorted()
    ids = all.prefix(dryRun ? .max : Self.idLimit).map(\.description)
    engine = recovery != nil ? .recovered : engineRuns ? .running : .none
    let isDone = dryRun || changed + asked == 0 || words.nextNeedsNoEngine && engineRuns
    next = isDone ? nil : words.next
  }

  static let form = ReportForm<ControlOutput>(
    "transfers.control/1", rows: "ids",
    [
      .facts([
        .text("verb") { $0.words.verb },
        .flag("dry_run", "") { $0.dryRun }.saying { $0.plan },
        .integer("changed", "") { $0.changed }.saying { $0.change },
        .integer("asked", "") { $0.asked }.saying { $0.dryRun ? nil : $0.asking },
        .list("ids", "") { $0.ids }.saying { $0.dryRun ? $0.ids.map { "  \($0)\n" }.joined() : nil },
        .integer("unaffected", "") { $0.unaffected }.saying { $0.unaffected > 0 ? "unchanged: " + $0.reasons : nil },
        .counts("unaffected_by_state") { $0.unaffectedByState },
        .integer("must_be_pushed", "") { $0.mustBePushed }.saying { $0.rest },
        .integer("kept_sources", "") { $0.keptSources }.saying { $0.kept },
        .text("engine") { $0.engine.rawValue },
        .text("next", "") { $0.next }.saying { $0.next.map { "Next: \($0)" } },
      ])
    ])

  /// A done file whose source is kept stays done when it is cancelled.
  private var ended: Int { words.goal == .cancelled ? changed - keptSources - going : changed }

  private var plan: String? {
    dryRun ? "would \(words.phrase ?? words.verb) \(Quantity.count(ended + asked, "file"))" : nil
  }

  private var change: String? {
    if dryRun { return nil }
    if ended > 0 { return "\(Quantity.count(ended, "file")) \(words.done)" }
    return changed + asked == 0 && unaffected > 0 ? "nothing to \(words.phrase ?? words.verb)" : nil
  }

  private var rest: String? {
    guard mustBePushed > 0 else { return nil }
    return
      "\(Quantity.count(mustBePushed, "file")) cannot be retried: push files again that were never read or were superseded"
  }

  private var kept: String? {
    var lines: [String] = []
    if keptSources > 0 {
      let sources = Quantity.count(keptSources, "source")
      lines.append(
        dryRun
          ? "would keep \(sources) that --after would delete or move"
          : "kept \(sources) that --after would have deleted or moved")
    }
    if going > 0, !dryRun {
      lines.append("a run had begun to remove \(Quantity.count(going, "source")): transfers list events has the result")
    }
    return lines.isEmpty ? nil : lines.joined(separator: "\n")
  }

  private var asking: String? {
    guard asked > 0 else { return nil }
    let files = Quantity.count(asked, "file")
    guard let recovery else { return "asked the running engine to \(words.phrase ?? words.verb) \(files)" }
    var parts: [String] = []
    if recovery.pausedFiles > 0 { parts.append("\(recovery.pausedFiles) paused") }
    if recovery.cancelledFiles > 0 { parts.append("\(recovery.cancelledFiles) cancelled") }
    if recovery.requeuedFiles > 0 { parts.append("\(recovery.requeuedFiles) will resume") }
    if recovery.unknownFiles > 0 { parts.append("\(recovery.unknownFiles) now unknown") }
    let what = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
    return "the engine that had \(files) crashed; its files were recovered\(what)"
  }

  /// Names the verb that decides about cancelled files which may have arrived.
  private var doubt: String {
    guard let first = uncertain.first else { return "" }
    let some = uncertain.count == 1 ? "\(first)" : "\(uncertain.count) of them (\(first) …)"
    return "; \(some) may have arrived and would be sent twice: if not, "
      + "transfers resolve \(first) --retry --reason TEXT"
  }

  /// `4 done, 1 paused already`.
  private var reasons: String {
    let states = FileState.allCases.compactMap { state in
      unaffectedByState[state.rawValue].map { "\($0) \(state.rawValue)\(state == words.goal ? " already" : "")" }
    }
    return states.joined(separator: ", ") + doubt
  }
}
