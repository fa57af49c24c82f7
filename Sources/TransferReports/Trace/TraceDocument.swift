import TransferModel

/// Attempts as a trace for Perfetto and chrome://tracing: a track for each host and each of its connections, one for
/// each file, and one with the critical path of each batch. Written as the attempts arrive.
/// Source: "Trace Event Format" of the Catapult project: complete events (`X`) nest by their times on one track, `ts`
/// and `dur` are microseconds, metadata events (`M`) name processes and threads.
package struct TraceDocument {
  /// Numbers of the processes that group tracks: files, critical paths, then one for each host.
  private static let files = 1, paths = 2, firstHost = 10

  private let nowMs: Int64
  private var hosts: [String: Host] = [:]
  private var known: [Int64: Life] = [:]
  private var batches: [Int64: CriticalPath] = [:]
  private var out: [UInt8] = []

  /// `nowMs` is the end of attempts that are open.
  package init(nowMs: Int64) {
    self.nowMs = nowMs
    out = Array("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n".utf8)
    event("M", "process_name", Self.files, 0, [("name", .text("files"))], isFirst: true)
    event("M", "process_name", Self.paths, 0, [("name", .text("critical paths"))])
  }

  /// From the first attempt to the end of the last.
  private struct Life { var fromMs: Int64, toMs: Int64, attempts: Int64, bytesAcked: Int64 }

  private struct Host {
    let number: Int
    /// When each connection is free.
    var connections: [Int64] = []
    /// The current span in which anything was in flight.
    var busy: Life
  }

  /// In the order in which they began.
  package mutating func add(_ span: AttemptSpan) {
    let endMs = max(span.startedMs, span.endedMs ?? nowMs)
    addToHost(span, endMs)
    addToFile(span, endMs)
    batches[span.batch.rawValue, default: CriticalPath()].add(
      CriticalPath.Step(attempt: span.id.rawValue, startedMs: span.startedMs, endedMs: endMs))
  }

  /// Removes and returns the output that is ready.
  package mutating func taken() -> [UInt8] {
    defer { out = [] }
    return out
  }

  /// The rest of the document.
  package mutating func finish() -> [UInt8] {
    for host in hosts.values.sorted(by: { $0.number < $1.number }) { busy(host) }
    for (file, life) in known.sorted(by: { $0.key < $1.key }) {
      span(
        "f\(file)", Self.files, Int(file), life.fromMs, life.toMs,
        [("attempts", .integer(life.attempts)), ("bytes_acked", .bytes(life.bytesAcked))])
    }
    for (batch, path) in batches.sorted(by: { $0.key < $1.key }) { critical(path, batch) }
    out += Array("\n]}\n".utf8)
    return taken()
  }

  // MARK: - Tracks

  private mutating func addToHost(_ span: AttemptSpan, _ endMs: Int64) {
    let name = span.host.isEmpty ? "unknown host" : span.host
    var host =
      hosts[name]
      ?? Host(
        number: Self.firstHost + hosts.count,
        busy: Life(fromMs: span.startedMs, toMs: endMs, attempts: 0, bytesAcked: 0))
    if hosts[name] == nil {
      event("M", "process_name", host.number, 0, [("name", .text(name))])
      event("M", "thread_name", host.number, 0, [("name", .text("in flight"))])
    }
    if span.startedMs > host.busy.toMs {
      busy(host)
      host.busy = Life(fromMs: span.startedMs, toMs: endMs, attempts: 0, bytesAcked: 0)
    }
    host.busy.toMs = max(host.busy.toMs, endMs)
    host.busy.attempts += 1
    host.busy.bytesAcked +|= span.bytesAcked
    let connection = host.connections.firstIndex { $0 <= span.startedMs } ?? host.connections.count
    if connection == host.connections.count {
      host.connections.append(endMs)
      event("M", "thread_name", host.number, connection + 1, [("name", .text("connection \(connection + 1)"))])
    } else {
      host.connections[connection] = endMs
    }
    hosts[name] = host
    attempt(span, endMs, host.number, connection + 1)
  }

  private mutating func addToFile(_ span: AttemptSpan, _ endMs: Int64) {
    let file = span.file.rawValue
    var life = known[file] ?? Life(fromMs: span.startedMs, toMs: endMs, attempts: 0, bytesAcked: 0)
    if known[file] == nil { event("M", "thread_name", Self.files, Int(file), [("name", .name(span.path))]) }
    (life.fromMs, life.toMs) = (min(life.fromMs, span.startedMs), max(life.toMs, endMs))
    life.attempts += 1
    life.bytesAcked +|= span.bytesAcked
    known[file] = life
  }

  private mutating func busy(_ host: Host) {
    span(
      "in flight", host.number, 0, host.busy.fromMs, host.busy.toMs,
      [("attempts", .integer(host.busy.attempts)), ("bytes_acked", .bytes(host.busy.bytesAcked))])
  }

  private mutating func critical(_ path: CriticalPath, _ batch: Int64) {
    event("M", "thread_name", Self.paths, Int(batch), [("name", .text("b\(batch)"))])
    var lastMs: Int64?
    for step in path.path {
      if let lastMs, step.startedMs > lastMs { span("waiting", Self.paths, Int(batch), lastMs, step.startedMs, []) }
      span("a\(step.attempt)", Self.paths, Int(batch), step.startedMs, step.endedMs, [])
      lastMs = step.endedMs
    }
  }

  /// The attempt, containing the phases of its request, which ends when the attempt does.
  private mutating func attempt(_ row: AttemptSpan, _ endMs: Int64, _ host: Int, _ connection: Int) {
    span(
      "a\(row.id.rawValue) \(row.operation)", host, connection, row.startedMs, endMs,
      [
        ("file", .text(row.file.description)), ("chunk", Cell(row.chunk?.description)),
        ("batch", .text(row.batch.description)), ("run", .text(row.run.description)), ("outcome", .text(row.outcome)),
        ("error_code", Cell(row.errorCode)), ("http_status", Cell(row.httpStatus)),
        ("bytes_transferred", .bytes(row.bytesTransferred)), ("bytes_acked", .bytes(row.bytesAcked)),
        ("remote_ip", Cell(row.remoteIP)),
      ])
    guard let totalMs = row.totalMs else { return }
    let beginMs = max(row.startedMs, endMs -| totalMs)
    var atMs = beginMs
    for (name, ms) in [
      ("connect", row.connectMs), ("send", row.sentMs), ("server", row.firstByteMs), ("answer", row.totalMs),
    ] {
      guard let ms else { continue }
      let toMs = min(endMs, max(atMs, beginMs +| ms))
      if toMs > atMs { span(name, host, connection, atMs, toMs, []) }
      atMs = toMs
    }
  }

  // MARK: - Events

  private mutating func span(
    _ name: String, _ process: Int, _ thread: Int, _ fromMs: Int64, _ toMs: Int64, _ arguments: [(String, Cell)]
  ) {
    event("X", name, process, thread, arguments, times: (fromMs, toMs -| fromMs))
  }

  private mutating func event(
    _ phase: String, _ name: String, _ process: Int, _ thread: Int, _ arguments: [(String, Cell)],
    times: (fromMs: Int64, forMs: Int64)? = nil, isFirst: Bool = false
  ) {
    var members: [FigureTree.Member] = [
      FigureTree.Member("ph", .figure(.text(phase))), FigureTree.Member("name", .figure(.text(name))),
      FigureTree.Member("pid", .figure(Cell(process))), FigureTree.Member("tid", .figure(Cell(thread))),
      FigureTree.Member("args", .object(arguments.map { FigureTree.Member($0.0, .figure($0.1)) })),
    ]
    if let times {
      members.append(FigureTree.Member("ts", .figure(.integer(times.fromMs *| 1000))))
      members.append(FigureTree.Member("dur", .figure(.integer(times.forMs *| 1000))))
    }
    if !isFirst { out += [0x2C, 0x0A] }
    JSONWriter.append(.object(members), to: &out)
  }
}
