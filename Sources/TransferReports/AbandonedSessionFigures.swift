import TransferModel

/// The columns of `gc`. The server's URL of a session is omitted, because anybody could write to the upload with it.
package enum AbandonedSessionFigures {
  package static let columns: [Column<AbandonedSessionRow>] = [
    .text("session", "Session") { $0.id.description },
    .text("file", "File") { $0.file.description },
    .text("file_state", "State") { $0.fileState },
    .text("protocol", "Protocol") { $0.protocolName },
    .time("began_at", "Began") { $0.beganMs },
    .time("expires_at", "Expires") { $0.expiresMs },
    .bytes("bytes_acked", "Holds") { $0.bytesAcked },
    .time("ends_at", "Ends") { $0.abortAfterMs },
    .integer("tries", "Tries") { $0.tries },
    .text("cause", "Cause") { $0.cause },
    .name("path", "Path") { $0.path },
    .text("destination", "Destination") { $0.destination },
  ]
}
