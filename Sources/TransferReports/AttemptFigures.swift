import TransferModel

/// The columns of `report attempts` and `list attempts`.
public enum AttemptFigures {
  public static let columns: [Column<AttemptRow>] = [
    Column("id", "Id") { .text($0.id.description) },
    Column("uid") { .text($0.uid) },
    Column("file", "File") { .text($0.file.description) },
    Column("chunk", "Chunk") { Cell($0.chunk?.description) },
    Column("run", "Run") { .text($0.run.description) },
    Column("operation", "Operation") { .text($0.operation) },
    Column("n", "No.") { .integer($0.n) },
    Column("started_at", "Started") { .time($0.startedMs) },
    Column("ended_at") { Cell(time: $0.endedMs) },
    Column("outcome", "Outcome") { .text($0.outcome) },
    Column("error_code", "Error") { Cell($0.errorCode) },
    Column("message") { Cell($0.message) },
    Column("http_status", "HTTP") { Cell($0.httpStatus) },
    Column("curl_code") { Cell($0.curlCode) },
    Column("bytes_transferred", "Transferred") { .bytes($0.bytesTransferred) },
    Column("bytes_acked") { .bytes($0.bytesAcked) },
    Column("connect_ms") { Cell(ms: $0.connectMs) },
    Column("first_byte_ms") { Cell(ms: $0.firstByteMs) },
    Column("total_ms", "Time") { Cell(ms: $0.totalMs) },
    Column("backoff_ms") { Cell(ms: $0.backoffMs) },
    Column("remote_ip", "Server") { Cell($0.remoteIP) },
    Column("request_id") { Cell($0.requestID) },
  ]
}
