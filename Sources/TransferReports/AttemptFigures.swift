import TransferModel

/// The columns of `report attempts` and `list attempts`.
package enum AttemptFigures {
  package static let columns: [Column<AttemptRow>] = [
    .text("id", "Id") { $0.id.description },
    .text("uid") { $0.uid },
    .text("file", "File") { $0.file.description },
    .text("chunk", "Chunk") { $0.chunk?.description },
    .text("run", "Run") { $0.run.description },
    .text("operation", "Operation") { $0.operation },
    .integer("n", "No.") { $0.n },
    .time("started_at", "Started") { $0.startedMs },
    .time("ended_at") { $0.endedMs },
    .text("outcome", "Outcome") { $0.outcome }.label(),
    .text("error_code", "Error") { $0.errorCode }.label(),
    .text("message") { $0.message },
    .integer("http_status", "HTTP") { $0.httpStatus },
    .integer("curl_code") { $0.curlCode },
    .bytes("bytes_transferred", "Transferred") { $0.bytesTransferred },
    .bytes("bytes_acked") { $0.bytesAcked },
    .duration("connect_ms") { $0.connectMs },
    .duration("first_byte_ms") { $0.firstByteMs },
    .duration("total_ms", "Time") { $0.totalMs },
    .duration("backoff_ms") { $0.backoffMs },
    .text("remote_ip", "Server") { $0.remoteIP },
    .text("request_id") { $0.requestID },
    .text("mirror") { $0.mirror }.label(),
  ]
}
