import TransferModel

/// A failure, in one line.
package struct YearFailure: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}

/// The jobs of the year: each has other rules for its sources.
struct YearJob: Hashable, Sendable {
  enum Fate: String, Sendable { case keep, delete, move }

  let name: String
  let settleMinutes: Int64
  let fate: Fate
  var needsMarker = false
  /// A webhook is called for each file.
  var tellsOfFiles = false
  /// A webhook and a dead man's switch are called for each run.
  var tellsOfRuns = false
  var more = ""

  var settleMs: Int64 { settleMinutes * 60_000 }

  static let all = [
    YearJob(name: "keep", settleMinutes: 15, fate: .keep, tellsOfFiles: true),
    YearJob(name: "once", settleMinutes: 0, fate: .delete, tellsOfFiles: true, tellsOfRuns: true),
    YearJob(name: "slow", settleMinutes: 45, fate: .delete, more: ", max_bytes: 80000, after_proof: digest"),
    YearJob(name: "marked", settleMinutes: 0, fate: .move, needsMarker: true, tellsOfFiles: true),
  ]

  /// Its lines of the configuration.
  func lines(below root: String) -> String {
    var keys = "from: [\(root)/source-\(name)], to: \"box:\(name)\", settle: \(settleMinutes)m"
    keys += ", disk_wait: 1s, max_duration: 4m, syslog: false"
    switch fate {
    case .keep: break
    case .delete: keys += ", after: delete"
    case .move: keys += ", after: \"move:\(root)/moved-\(name)\""
    }
    if fate != .keep, !more.contains("after_proof") { keys += ", after_proof: any" }
    if needsMarker { keys += ", ready_file: \"{path}.done\"" }
    if tellsOfFiles { keys += ", on_done: \"webhook:http://hooks.test/\(name)\"" }
    if tellsOfRuns {
      keys += ", on_result: [\"webhook:http://hooks.test/runs-\(name)\"], ping: \"http://hooks.test/ping-\(name)\""
    }
    return "  \(name): {\(keys)\(more)}\n"
  }
}
