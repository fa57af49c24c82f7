import TransferModel

/// The columns of `gc`. The server's name of a session is left out: with it anybody could write to the upload.
public enum OrphanFigures {
  public static let columns: [Column<OrphanRow>] = [
    Column("session", "Session") { .text($0.id.description) },
    Column("file", "File") { .text($0.file.description) },
    Column("file_state", "State") { .text($0.fileState) },
    Column("protocol", "Protocol") { .text($0.protocolName) },
    Column("began_at", "Began") { .time($0.beganMs) },
    Column("expires_at", "Expires") { $0.expiresMs.map { .time($0) } ?? .none },
    Column("bytes_acked", "Holds") { .bytes($0.bytesAcked) },
    Column("ends_at", "Ends") { $0.abortAfterMs.map { .time($0) } ?? .none },
    Column("tries", "Tries") { .integer($0.tries) },
    Column("cause", "Cause") { Cell($0.cause) },
    Column("path", "Path") { .name($0.path) },
    Column("destination", "Destination") { .text($0.destination) },
  ]
}
