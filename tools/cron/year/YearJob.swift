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
  /// Each file goes also to this folder of the server, as another destination.
  var second: String?
  /// A file is not sent if the server has its content under another name.
  var dedupes = false
  var more = ""

  var settleMs: Int64 { settleMinutes * 60_000 }
  /// The folders of the server to which its files go.
  var places: [String] { [name] + (second.map { [$0] } ?? []) }

  /// In an order in which two machines get equal parts of the work.
  static let all = [
    YearJob(name: "keep", settleMinutes: 15, fate: .keep, tellsOfFiles: true),
    YearJob(name: "once", settleMinutes: 0, fate: .delete, tellsOfFiles: true, tellsOfRuns: true),
    YearJob(name: "slow", settleMinutes: 45, fate: .delete, more: ", max_bytes: 80000, after_proof: digest"),
    YearJob(name: "both", settleMinutes: 0, fate: .delete, tellsOfFiles: true, second: "again"),
    YearJob(name: "marked", settleMinutes: 0, fate: .move, needsMarker: true, tellsOfFiles: true),
    YearJob(name: "few", settleMinutes: 0, fate: .keep, more: ", quota: 100000/day"),
    YearJob(name: "twins", settleMinutes: 0, fate: .keep, tellsOfFiles: true, dedupes: true),
  ]

  /// Its lines of the configuration.
  func lines(below root: String) -> String {
    let to = second.map { "[\"box:\(name)\", \"box:\($0)\"]" } ?? "\"box:\(name)\""
    var keys = "from: [\(root)/source-\(name)], to: \(to), settle: \(settleMinutes)m"
    keys += ", disk_wait: 1s, max_duration: 4m, syslog: false"
    switch fate {
    case .keep: break
    case .delete: keys += ", after: delete"
    case .move: keys += ", after: \"move:\(root)/moved-\(name)\""
    }
    if fate != .keep, !more.contains("after_proof") { keys += ", after_proof: any" }
    if dedupes { keys += ", dedupe: true" }
    if needsMarker { keys += ", ready_file: \"{path}.done\"" }
    if tellsOfFiles { keys += ", on_done: \"webhook:http://hooks.test/\(name)\"" }
    if tellsOfRuns {
      keys += ", on_result: [\"webhook:http://hooks.test/runs-\(name)\"], ping: \"http://hooks.test/ping-\(name)\""
    }
    return "  \(name): {\(keys)\(more)}\n"
  }
}
