import TransferModel

/// Attempts as spans of OpenTelemetry, in the JSON form of OTLP 1.x (ExportTraceServiceRequest): all requests for one
/// file are one trace, whose id is the file's uid. Attributes have the names of the semantic conventions for HTTP
/// clients (1.23 and later) if there is one. The method of a request is not in the ledger and is therefore `_OTHER`.
package enum SpanDocument {
  package static func bytes(_ rows: [SpanRow]) -> [UInt8] {
    var (order, groups): ([Maker], [Maker: [SpanRow]]) = ([], [:])
    for row in rows {
      let maker = Maker(machine: row.machine, version: row.version)
      if groups[maker] == nil { order.append(maker) }
      groups[maker, default: []].append(row)
    }
    return JSONWriter.bytes(object([("resourceSpans", .array(order.map { resource($0, groups[$0] ?? []) }))]))
  }

  private struct Maker: Hashable {
    let machine: String
    let version: String
  }

  private static func resource(_ maker: Maker, _ rows: [SpanRow]) -> FigureTree {
    let attributes = [
      text("service.name", "transfers"), text("service.version", maker.version), text("host.name", maker.machine),
    ]
    let scope = object([("name", .figure(.text("transfers"))), ("version", .figure(.text(maker.version)))])
    return object([
      ("resource", object([("attributes", .array(attributes.compactMap(\.self)))])),
      ("scopeSpans", .array([object([("scope", scope), ("spans", .array(rows.map(span)))])])),
    ])
  }

  private static func span(_ row: SpanRow) -> FigureTree {
    let attempt = row.attempt.attempt
    let endMs = max(attempt.startedMs, attempt.endedMs ?? attempt.startedMs)
    return object([
      ("traceId", .figure(.text(digits(row.fileUID.description)))),
      ("spanId", .figure(.text(String(digits(attempt.uid).suffix(16))))),
      ("name", .figure(.text(attempt.operation))),
      // SPAN_KIND_CLIENT.
      ("kind", .figure(.integer(3))),
      ("startTimeUnixNano", nanoseconds(attempt.startedMs)), ("endTimeUnixNano", nanoseconds(endMs)),
      ("attributes", .array((protocolAttributes(row) + ownAttributes(row)).compactMap(\.self))),
      ("status", status(attempt)),
    ])
  }

  private static func digits(_ uid: String) -> String { uid.filter { $0 != "-" } }

  private static func protocolAttributes(_ row: SpanRow) -> [FigureTree?] {
    let attempt = row.attempt.attempt
    let place = row.host.split(separator: ":", omittingEmptySubsequences: false)
    let port = place.count == 2 ? Int64(place[1]) : nil
    return [
      text("http.request.method", "_OTHER"), number("http.response.status_code", attempt.httpStatus),
      text("server.address", port == nil ? row.host : String(place[0])), number("server.port", port),
      text("network.peer.address", attempt.remoteIP), text("network.protocol.version", row.httpVersion),
      number("http.request.resend_count", attempt.n > 1 ? attempt.n - 1 : nil),
      number(row.isDownload ? "http.response.body.size" : "http.request.body.size", attempt.bytesTransferred),
      text("error.type", isFailure(attempt) ? attempt.errorCode ?? attempt.outcome : nil),
    ]
  }

  private static func ownAttributes(_ row: SpanRow) -> [FigureTree?] {
    let attempt = row.attempt.attempt
    return [
      text("transfers.attempt", attempt.id.description), text("transfers.file", attempt.file.description),
      text("transfers.batch", row.attempt.batch.description), text("transfers.chunk", attempt.chunk?.description),
      text("transfers.run", attempt.run.description), text("transfers.outcome", attempt.outcome),
      number("transfers.bytes_acked", attempt.bytesAcked), number("transfers.connect_ms", attempt.connectMs),
      number("transfers.first_byte_ms", attempt.firstByteMs), text("transfers.request_id", attempt.requestID),
      text("file.path", String(decoding: row.attempt.path.bytes, as: UTF8.self)),
    ]
  }

  private static func isFailure(_ attempt: AttemptRow) -> Bool {
    ["retry", "fatal", "unknown", "crashed"].contains(attempt.outcome)
  }

  /// 2 is an error; 0 is unset.
  private static func status(_ attempt: AttemptRow) -> FigureTree {
    guard isFailure(attempt) else { return object([("code", .figure(.integer(0)))]) }
    return object([("code", .figure(.integer(2))), ("message", .figure(.text(attempt.message ?? attempt.outcome)))])
  }

  /// 64-bit numbers are strings in this format (the JSON mapping of Protocol Buffers); none is below 0.
  private static func nanoseconds(_ ms: Int64) -> FigureTree { .figure(.text("\(max(0, ms) *| 1_000_000)")) }

  private static func text(_ key: String, _ value: String?) -> FigureTree? {
    guard let value, !value.isEmpty else { return nil }
    return attribute(key, "stringValue", .text(value))
  }

  private static func number(_ key: String, _ value: Int64?) -> FigureTree? {
    value.map { attribute(key, "intValue", .text("\($0)")) }
  }

  private static func attribute(_ key: String, _ kind: String, _ value: Cell) -> FigureTree {
    object([("key", .figure(.text(key))), ("value", object([(kind, .figure(value))]))])
  }

  private static func object(_ members: [(String, FigureTree)]) -> FigureTree {
    .object(members.map { FigureTree.Member($0.0, $0.1) })
  }
}
