import Glibc
import TransferModel

/// One request and its answer on one connection. Used by the thread of the connection.
final class Exchange {
  /// Bodies up to this length are read to the end after an early answer, so that the connection can be reused.
  private static let drainLimit: Int64 = 1 << 20

  let core: ReceiverCore
  let socket: Socket
  let head: RequestHead
  let connection: Int64
  let request: Int64
  let effect: FaultEffect
  /// Lets another exchange end this one.
  let interruption: Interruption
  var body: RequestBody
  var pacer: Pacer
  /// The object's path below the folder, as far as it is known; the path as sent where that is not valid.
  var recordedPath: NameBytes
  private var mayContinue: Bool
  private let rule: FaultRule?
  private let began = monotonicNanoseconds()

  init(_ core: ReceiverCore, _ socket: Socket, _ head: RequestHead, connection: Int64) {
    self.core = core
    self.socket = socket
    self.head = head
    self.connection = connection
    request = core.nextRequest()
    rule = core.faults.rule(method: head.method, path: head.path)
    effect = rule?.effect ?? FaultEffect()
    let interruption = Interruption(socket: socket.number)
    self.interruption = interruption
    body = RequestBody(head, socket, limit: min(core.settings.maxBody, effect.limit ?? .max))
    pacer = Pacer(
      effect, wait: { [core] in core.wait(milliseconds: $0, interruption) },
      hold: { [core] in core.holds.hold($0, socket: socket.number) })
    recordedPath = (try? ObjectPath(requestPath: head.path))?.bytes ?? NameBytes(Array(head.path))
    mayContinue = !head.isHTTP10 && head["expect"]?.lowercased() == "100-continue"
  }

  /// Carries out the request. True when the connection can take another one.
  func run() -> Bool {
    do throws(ExchangeEnd) {
      try begin()
      return try AnswerSender(exchange: self).send(try respond())
    } catch {
      return AnswerSender(exchange: self).close(after: error)
    }
  }

  private func begin() throws(ExchangeEnd) {
    var declared: Int64?
    if case .length(let length) = head.framing { declared = length }
    try note(.start(method: head.method, declared: declared))
    if let rule {
      core.count { $0.faults += 1 }
      try note(.fault(line: rule.line, effect: rule.effect.text))
    }
    if effect.latencyMs > 0, !core.wait(milliseconds: effect.latencyMs, interruption) { throw .gone }
    try hold(effect.hold)
  }

  /// Waits until the hold with this name is released.
  private func hold(_ name: String?) throws(ExchangeEnd) {
    guard let name, !core.holds.hold(name, socket: socket.number) else { return }
    throw interruption.isRaised ? .superseded : .gone
  }

  private func respond() throws(ExchangeEnd) -> Answer {
    if let scripted = effect.answer {
      // A server that is locked by its own merge continues that merge.
      if effect.isLocked, head.method == "MOVE" { _ = try? PlainMethods(exchange: self).answer() }
      if !effect.isEarly { try drop() }
      return scripted
    }
    do throws(ExchangeEnd) {
      if effect.isHTML { return try htmlPage() }
      let answer = relocated(try PlainMethods(exchange: self).answer())
      if effect.lateMs > 0, !core.wait(milliseconds: effect.lateMs, interruption) { throw .gone }
      try hold(effect.lateHold)
      return effect.lateAnswer ?? answer
    } catch {
      if case .refuse(let answer) = error { return relocated(answer) }
      throw error
    }
  }

  /// The page that a captive portal or a broken proxy answers with.
  private func htmlPage() throws(ExchangeEnd) -> Answer {
    try drop()
    var answer = Answer(200, fields: [Answer.Field("Content-Type", "text/html; charset=utf-8")])
    answer.body = Array("<!DOCTYPE html>\n<html><title>Sign in</title><p>Please sign in.</p></html>\n".utf8)
    return answer
  }

  /// The answer with the Location that the script sets.
  func relocated(_ answer: Answer) -> Answer {
    guard let location = effect.location else { return answer }
    var answer = answer
    for i in answer.fields.indices where answer.fields[i].name == "Location" { answer.fields[i].value = location }
    return answer
  }

  /// Adds an event about this request to the record.
  func note(_ kind: ReceiverEvent.Kind, of path: ObjectPath? = nil) throws(ExchangeEnd) {
    try core.record.add(
      ReceiverEvent(
        atMs: wallMilliseconds(), connection: connection, request: request, path: path?.bytes ?? recordedPath,
        kind: kind))
  }

  /// Sends an interim answer, but not to clients of HTTP/1.0. Source: RFC 9110 section 15.2.
  func sendInterim(_ status: Int, _ fields: [Answer.Field]) throws(ExchangeEnd) {
    guard !head.isHTTP10, !effect.hidesInterim else { return }
    let lines = relocated(Answer(status, fields: fields)).fields.map { "\($0.name): \($0.value)\r\n" }
    try socket.send(Array("HTTP/1.1 \(status) \(Answer.reason(status))\r\n\(lines.joined())\r\n".utf8))
  }

  /// Asks the client for the body if it waits for `100 Continue`.
  func invite() throws(ExchangeEnd) {
    guard mayContinue, !body.isComplete else { return }
    mayContinue = false
    try socket.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
  }

  /// Reads and discards the whole body.
  func drop() throws(ExchangeEnd) {
    try invite()
    try receive(nil, checksum: { nil })
  }

  /// Reads the whole body, buffer by buffer, and records the received range, complete or not; the first byte of the
  /// body is byte `offset` of the object.
  func receive(
    at offset: Int64 = 0, _ consume: BodyConsumer?, checksum: () -> UInt32?
  ) throws(ExchangeEnd) {
    var end: ExchangeEnd?
    do throws(ExchangeEnd) { try pump(consume) } catch { end = error }
    if head.framing != .none {
      try note(.bytes(ByteRange(offset: offset, length: body.received), crc32c: checksum()))
    }
    if let end { throw end }
  }

  /// Reads the whole body, buffer by buffer.
  func pump(_ consume: BodyConsumer?) throws(ExchangeEnd) {
    let before = body.received
    defer { core.count { $0.bytesReceived += body.received - before } }
    do throws(ExchangeEnd) {
      while try body.next(&pacer, consume) {
        if interruption.isRaised { throw .superseded }
      }
      if head.framing != .none { try pacer.finish() }
    } catch {
      if case .gone = error, interruption.isRaised { throw .superseded }
      throw error
    }
  }

  /// Whether the connection has to end after the answer, because a part of the body has not been read.
  func settleBody() -> Bool {
    if body.isComplete { return head.wantsClose }
    guard !effect.isEarly, !mayContinue, let left = body.remaining, left <= Self.drainLimit else { return true }
    do throws(ExchangeEnd) {
      while try body.next(&pacer, nil) {}
    } catch {
      return true
    }
    return head.wantsClose
  }

  func log(_ status: Int, _ remark: String) {
    guard let log = core.settings.log else { return }
    let milliseconds = (monotonicNanoseconds() - began) / 1_000_000
    let fault = rule.map { " [line \($0.line): \(printable($0.effect.text))]" } ?? ""
    log("\(head.method) /\(recordedPath) \(status)\(remark) \(body.received) bytes in, \(milliseconds) ms\(fault)")
  }
}
