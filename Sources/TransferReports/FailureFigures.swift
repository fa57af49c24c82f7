import TransferModel

/// The columns of `report failures`.
public enum FailureFigures {
  public static let columns: [Column<FailureRow>] = [
    .text("error_code", "Error") { $0.code }.label(),
    .text("blame", "Blame") { $0.blame }.label(),
    .integer("files", "Files") { $0.files },
    .integer("attempts", "Attempts") { $0.attempts },
    .time("first_at", "First") { $0.firstMs },
    .time("last_at", "Last") { $0.lastMs },
    .name("example_path", "Example") { $0.examplePath },
    .text("example_message") { $0.exampleMessage },
    .text("hint") { $0.hint.isEmpty ? nil : $0.hint },
  ]

  /// Of files alone: what `status` and `show` tell without a look at attempts.
  public static let ofFiles = columns.filter { $0.key != "attempts" }

  /// What a person needs at the end of a run.
  public static let inShort: [Column<FailureRow>] = [
    .integer("files", "Files") { $0.files },
    .text("error_code", "Error") { $0.code },
    .text("example_message", "Message") { $0.exampleMessage },
    .name("example_path", "Example") { $0.examplePath },
  ]
}
