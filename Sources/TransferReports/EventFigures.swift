import TransferLedger
import TransferModel

/// The columns of `list events`.
public enum EventFigures {
  public static let columns: [Column<EventRow>] = [
    Column("id", "Id") { .text("e\($0.id)") },
    Column("at", "At") { .time($0.atMs) },
    Column("verb", "Verb") { .text($0.verb) },
    Column("batch", "Batch") { Cell($0.batch?.description) },
    Column("file", "File") { Cell($0.file?.description) },
    Column("detail", "Detail") { Cell($0.detail.isEmpty ? nil : $0.detail) },
    Column(name: "path", "Path") { $0.path },
  ]
}
