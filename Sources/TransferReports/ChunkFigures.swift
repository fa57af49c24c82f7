import TransferModel

/// The columns of `list chunks`.
public enum ChunkFigures {
  public static let columns: [Column<ChunkRow>] = [
    Column("id", "Id") { .text($0.id.description) },
    Column("file", "File") { .text($0.file.description) },
    Column("seq", "No.") { .integer($0.seq) },
    Column("offset", "Offset") { .integer($0.offset) },
    Column("length", "Length") { .bytes($0.length) },
    Column("state", "State") { .text($0.state) },
    Column("attempts", "Tries") { .integer($0.attempts) },
    Column("reused") { .flag($0.isReused) },
    Column("digest", "Digest") { Cell($0.digest) },
  ]
}
