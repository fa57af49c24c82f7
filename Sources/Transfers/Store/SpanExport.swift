import CurlTransport
import FoundationEssentials
import TransferEngine
package import TransferModel
import TransferReports

/// The result of sending spans to a collector.
package struct SpanExportResult: Sendable, Hashable {
  package var endpoint: String
  package var spansSent: Int64 = 0
  /// How many of these the collector reported as rejected.
  package var spansRejected: Int64 = 0
  package var requests: Int64 = 0
  package var retries: Int64 = 0
  /// The collector's message about them.
  package var message: String?
}

/// Sends attempts to an OpenTelemetry collector over HTTP, page by page, so that memory use does not grow with their
/// number.
package final class SpanExport {
  /// Spans in a request: about 700 KB.
  static let pageSize = 500
  /// The maximum number of requests for one page.
  static let triesAtMost = 6

  private let url: String
  private let fields: [(name: String, value: String)]
  private let transport: CurlTransport
  private let clock: any TransferClock
  /// Called before each wait for a repetition, with the reason.
  private let notice: (String) -> Void
  private var number: UInt64 = 0
  private(set) var result: SpanExportResult

  /// The value of each header is `env:NAME` or `file:PATH`.
  /// - Throws: `.usage` for an invalid URL, header name or reference; `.auth` for a missing secret.
  package init(
    endpoint: String, headers: [String], clock: any TransferClock, notice: @escaping (String) -> Void
  ) throws(TransferError) {
    url = try Self.traces(endpoint)
    fields = try Self.fields(headers)
    (self.clock, self.notice) = (clock, notice)
    result = SpanExportResult(endpoint: url)
    transport = try CurlTransport(
      CurlConfiguration(
        userAgent: "transfers/\(TransferClient.version)", caFile: CurlDestinations.trustedFile))
  }

  deinit { transport.stop() }

  /// Sends all attempts that the filter selects and that have ended. Blocking.
  package func send(_ filter: RowFilter, of store: OpenStore) throws(TransferError) -> SpanExportResult {
    var after: Int64 = 0
    while true {
      let page = try store.read { [after] in try $0.spans(filter, after: after, limit: Self.pageSize) }
      guard let last = page.last else { return result }
      try post(SpanDocument.bytes(page), spans: Int64(page.count))
      after = last.attempt.attempt.id.rawValue
    }
  }

  private func post(_ document: [UInt8], spans: Int64) throws(TransferError) {
    for tries in 1...Self.triesAtMost {
      let reply = try exchange(document)
      result.requests += 1
      if reply.curlCode == 0, (200..<300).contains(reply.status) {
        try note(reply.body)
        result.spansSent += spans
        return
      }
      guard tries < Self.triesAtMost, Self.isTransient(reply) else { throw refusal(reply) }
      result.retries += 1
      let waitMs = reply.retryAfterMs(wallMs: clock.wallMs) ?? 500 << Int64(tries)
      let restMs = min(waitMs, 60_000)
      notice("\(cause(reply)); attempt \(tries + 1) of \(Self.triesAtMost) in \(Quantity.duration(restMs))")
      _ = Mailbox<Bool>().take(timeoutMs: restMs)
    }
  }

  private func exchange(_ document: [UInt8]) throws(TransferError) -> TransferReply {
    guard let request = TransferRequest.post(url, json: document, fields: fields) else {
      throw TransferError(.usage, "read --header", cause: "not a valid header name", remedy: "Name=env:VARIABLE")
    }
    number += 1
    let replies = Mailbox<TransferReply>()
    transport.start(ExchangeID(rawValue: number), request) { replies.put($0) }
    guard let reply = replies.take()?.first else {
      throw TransferError(.bug, "send spans", cause: "there was no reply")
    }
    return reply
  }

  /// The statuses that the protocol defines as retryable (OTLP 1.x, OTLP/HTTP response), and requests without an
  /// answer.
  private static func isTransient(_ reply: TransferReply) -> Bool {
    reply.curlCode != 0 || [429, 502, 503, 504].contains(reply.status)
  }

  private func cause(_ reply: TransferReply) -> String {
    if reply.curlCode != 0 { return reply.curlMessage }
    let text = reply.body.isEmpty ? "" : ": \(String(decoding: masked(reply.body).prefix(200), as: UTF8.self))"
    return "the collector answered \(reply.status)\(text)"
  }

  /// What the collector said, without the secrets of the headers: it may quote them.
  private func masked(_ said: [UInt8]) -> [UInt8] {
    CallbackOutput.masked(said, fields.flatMap { Self.secrets(in: $0.value) })
  }

  /// The value of a header, and what follows a scheme of authentication in it (`Bearer TOKEN`, `Basic BASE64`), also
  /// decoded.
  private static func secrets(in value: String) -> [String] {
    let words = value.split(separator: " ").dropFirst().map(String.init)
    let pairs = words.compactMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.contains(":") }
    let passwords = pairs.compactMap { $0.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init) }
    return [value] + words + pairs + passwords
  }

  private func refusal(_ reply: TransferReply) -> TransferError {
    let sent = "\(result.spansSent) spans were sent before"
    return TransferError(
      reply.status == 401 || reply.status == 403 ? .auth : .config, "send spans to", NameBytes(url),
      cause: "\(cause(reply)) (\(sent))",
      remedy: "check the collector, and send them again: it recognises spans by their IDs")
  }

  /// A collector may accept only some spans, and reports this (`partialSuccess`). An answer that is not a JSON object
  /// does not come from a collector. Source: OTLP 1.x, "OTLP/HTTP Response".
  private func note(_ body: [UInt8]) throws(TransferError) {
    struct Answer: Decodable {
      struct Partial: Decodable {
        var rejectedSpans: Count?
        var errorMessage: String?
      }
      var partialSuccess: Partial?
    }
    if body.isEmpty { return }
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else {
      throw TransferError(
        .config, "send spans to", NameBytes(url),
        cause: "the answer is not from a collector (\(result.spansSent) spans were sent before)",
        remedy: "check the endpoint: OTLP over HTTP, usually port 4318")
    }
    guard let partial = answer.partialSuccess else { return }
    result.spansRejected +|= partial.rejectedSpans?.value ?? 0
    if let message = partial.errorMessage, !message.isEmpty {
      result.message = String(decoding: masked(Array(message.utf8)), as: UTF8.self)
    }
  }

  /// A 64-bit number, which JSON of this protocol encodes as a string.
  private struct Count: Decodable {
    let value: Int64
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int64.self) {
        value = max(0, number)
      } else {
        value = max(0, Int64(try container.decode(String.self)) ?? 0)
      }
    }
  }

  /// The URL for spans: the default path is added to an endpoint without a path.
  private static func traces(_ endpoint: String) throws(TransferError) -> String {
    let rest = ["http://", "https://"].compactMap { endpoint.hasPrefix($0) ? endpoint.dropFirst($0.count) : nil }.first
    guard let rest, let first = rest.first, first != "/", !rest.contains(where: { "@?#".contains($0) }) else {
      throw TransferError(
        .usage, "read --endpoint", cause: "not an http or https URL, or one with credentials or a query",
        remedy: "--endpoint http://127.0.0.1:4318, and --header Authorization=env:TOKEN for a secret")
    }
    guard let slash = rest.firstIndex(of: "/") else { return endpoint + "/v1/traces" }
    return rest[slash...] == "/" ? endpoint + "v1/traces" : endpoint
  }

  private static func fields(_ headers: [String]) throws(TransferError) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    for header in headers {
      let halves = header.split(separator: "=", maxSplits: 1).map(String.init)
      guard halves.count == 2, let place = SecretReference(halves[1]) else {
        throw TransferError(
          .usage, "read --header", cause: "the value is not a reference; command lines are visible to all users",
          remedy: "--header Authorization=env:NAME or --header Authorization=file:PATH")
      }
      do throws(Failure) { fields.append((halves[0], try place.read { false })) } catch {
        throw TransferError(.auth, "read --header", NameBytes(halves[0]), cause: error.message)
      }
    }
    return fields
  }
}
