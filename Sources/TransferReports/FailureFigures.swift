import TransferModel

/// The columns of `report failures`.
public enum FailureFigures {
  public static let columns: [Column<FailureRow>] = [
    Column("error_code", "Error") { .text($0.code) },
    Column("blame", "Blame") { .text($0.blame) },
    Column("files", "Files") { .integer($0.files) },
    Column("attempts", "Attempts") { .integer($0.attempts) },
    Column("first_at", "First") { Cell(time: $0.firstMs) },
    Column("last_at", "Last") { Cell(time: $0.lastMs) },
    Column(name: "example_path", "Example") { $0.examplePath },
    Column("example_message") { Cell($0.exampleMessage) },
    Column("hint") { Cell($0.hint.isEmpty ? nil : $0.hint) },
  ]

  /// Of files alone: what `status` and `show` tell without a look at attempts.
  public static let ofFiles = columns.filter { $0.key != "attempts" }

  /// One line about files that ended like this: `  2 × http.413  payload too large   e.g. /data/out/x/huge.bam`.
  /// `times` is the sign behind the number.
  public static func line(_ row: FailureRow, times: String) -> String {
    let message = row.exampleMessage.map { "  " + printable($0) } ?? ""
    let example = row.examplePath.map { "   e.g. \($0)" } ?? ""
    return "  \(row.files) \(times) \(row.code)\(message)\(example)"
  }
}
