import TransferModel

/// The columns of `list chunks`.
package enum ChunkFigures {
  package static let columns: [Column<ChunkRow>] = [
    .text("id", "Id") { $0.id.description },
    .text("file", "File") { $0.file.description },
    .integer("seq", "No.") { $0.seq },
    .integer("offset", "Offset") { $0.offset },
    .bytes("length", "Length") { $0.length },
    .text("state", "State") { $0.state },
    .integer("attempts", "Tries") { $0.attempts },
    .flag("reused") { $0.isReused },
    .text("digest", "Digest") { $0.digest },
  ]
}
