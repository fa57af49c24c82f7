import TransferModel

/// The columns of `list events`.
public enum EventFigures {
  public static let columns: [Column<EventRow>] = [
    Column("id", "Id") { .text("e\($0.id)") },
    Column("at", "At") { .time($0.atMs) },
    Column("verb", "Verb") { .text($0.verb) },
    Column("batch", "Batch") { Cell($0.batch?.description) },
    Column("files", "Files") { Cell($0.files > 0 ? $0.files : nil) },
    Column("first_file", "First") { Cell($0.firstFile?.description) },
    Column("last_file", "Last") { Cell($0.lastFile?.description) },
    Column("detail", "Detail") { Cell($0.detail.isEmpty ? nil : $0.detail) },
    Column(name: "path", "Path") { $0.path },
  ]
}
