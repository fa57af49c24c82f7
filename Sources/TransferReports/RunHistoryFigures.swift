import TransferModel

/// The columns of `report runs`.
package enum RunHistoryFigures {
  package static let totals: [Column<RunFigures>] = [
    .integer("runs", "runs") { $0.rows.count }.saying { runs in
      runs.rows.isEmpty
        ? nil
        : "\(runs.rows.count): "
          + endings(runs).map { "\($0.value) \(printable($0.key))" }
          .joined(separator: ", ")
    },
    .counts("runs_by_end") { runs in Dictionary(uniqueKeysWithValues: endings(runs).map { ($0.key, $0.value) }) },
    .duration("up_ms", "an engine ran for") { SpanSet($0.lives).lengthMs },
    .duration("down_ms", "and in between none for") { $0.lives.isEmpty ? nil : SpanSet($0.lives).gapsMs },
  ]

  package static let columns: [Column<RunHistory>] = [
    .text("id", "Id") { $0.run.id.description }.label(),
    .time("started_at", "Started") { $0.run.startedMs },
    .time("ended_at") { $0.run.endedMs },
    .duration("up_ms", "Up") { $0.upMs },
    .text("how", "Ended") { $0.run.how }.toned { $0.isCrashed ? .bad : nil },
    .text("host", "Host") { $0.run.host }.label(),
    .text("version", "Version") { $0.run.version },
    .integer("pid") { $0.run.pid },
    .text("boot_id") { $0.run.bootID },
    .integer("attempts", "Attempts") { $0.attempts },
    .integer("attempts_recovered", "Recovered") { $0.recovered },
    .bytes("bytes_transferred", "Transferred") { $0.bytesTransferred },
  ]

  /// Counts by kind of end, most frequent first. Reasons of failures are omitted.
  private static func endings(_ runs: RunFigures) -> [(key: String, value: Int)] {
    var counts: [String: Int] = [:]
    for row in runs.rows {
      let how = row.run.how.map { $0.split(separator: ":").first.map(String.init) ?? $0 } ?? "running"
      counts[how, default: 0] += 1
    }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
  }
}

extension RunHistory {
  fileprivate var isCrashed: Bool { run.how == "crashed" }
}
