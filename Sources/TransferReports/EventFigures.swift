import TransferModel

/// The columns of `list events`.
package enum EventFigures {
  package static let columns: [Column<EventRow>] = [
    .text("id", "Id") { "e\($0.id)" },
    .time("at", "At") { $0.atMs },
    .text("verb", "Verb") { $0.verb },
    .text("batch", "Batch") { $0.batch?.description },
    .integer("files", "Files") { $0.files > 0 ? $0.files : nil },
    .text("first_file", "First") { $0.firstFile?.description },
    .text("last_file", "Last") { $0.lastFile?.description },
    .text("detail", "Detail") { $0.detail.isEmpty ? nil : $0.detail },
    .name("path", "Path") { $0.path },
  ]
}
