import Glibc
import TransferModel

/// How an exchange ends: with the answer, or with what the script or the network makes of it.
struct AnswerSender {
  let exchange: Exchange

  /// Sends the answer. Its record is written first, so that the record is never behind the client.
  func send(_ answer: Answer) throws(ExchangeEnd) -> Bool {
    let answer = shaped(answer)
    if exchange.head.method == "GET", let file = answer.file { try exchange.note(.content(file.range)) }
    if let ending = exchange.effect.ending, ending != .wrongDigest { return try spoil(answer, ending) }
    let mustClose = exchange.settleBody() || (answer.framing == .close && answer.mayHaveBody)
    try exchange.note(.answer(status: answer.status))
    exchange.log(answer.status, "")
    do throws(ExchangeEnd) {
      try transmit(answer, closing: mustClose)
    } catch {
      return lose(answer.status, because: error)
    }
    if mustClose { exchange.socket.finishSending(milliseconds: exchange.body.isComplete ? 0 : 2000) }
    return !mustClose
  }

  private func transmit(_ answer: Answer, closing: Bool) throws(ExchangeEnd) {
    var bytes = answer.head(closing: closing, nowSeconds: Int(wallMilliseconds() / 1000))
    let hasBody = exchange.head.method != "HEAD" && answer.mayHaveBody
    let isChunked = hasBody && answer.framing == .chunked
    if hasBody, answer.file == nil, !answer.body.isEmpty {
      bytes += isChunked ? Self.chunkHead(Int64(answer.body.count)) + answer.body + Self.lineEnd : answer.body
    }
    try exchange.socket.send(bytes)
    if hasBody, let file = answer.file { try stream(file, isChunked: isChunked) }
    if isChunked { try exchange.socket.send(Self.chunkHead(0) + Self.lineEnd) }
  }

  private static let lineEnd = Array("\r\n".utf8)

  private static func chunkHead(_ length: Int64) -> [UInt8] { Array("\(String(length, radix: 16))\r\n".utf8) }

  /// Sends a part of a stored object at the pace of the script. With chunked framing, each buffer is one chunk; the
  /// last chunk is not sent.
  private func stream(_ file: Answer.FileBody, isChunked: Bool) throws(ExchangeEnd) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    var start = file.range.offset
    while start < file.range.end {
      let chunk = ByteRange(offset: start, length: min(Int64(buffer.count), file.range.end - start))
      if isChunked { try exchange.socket.send(Self.chunkHead(chunk.length)) }
      try send(chunk, of: file, buffer)
      if isChunked { try exchange.socket.send(Self.lineEnd) }
      start = chunk.end
    }
    try exchange.pacer.finish()
  }

  private func send(
    _ range: ByteRange, of file: Answer.FileBody, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(ExchangeEnd) {
    var offset = range.offset
    while offset < range.end {
      let allowed = try exchange.pacer.allowance(Int(range.end - offset))
      let count = pread(file.descriptor.number, buffer.baseAddress!, allowed, off_t(offset))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .gone }
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      applyMask(file.mask, to: piece)
      if let wrong = file.wrongByte, offset..<offset + Int64(count) ~= wrong { piece[Int(wrong - offset)] ^= 0xFF }
      try exchange.socket.send(UnsafeRawBufferPointer(piece))
      offset += Int64(count)
      try exchange.pacer.note(count)
    }
  }

  private func spoil(_ answer: Answer, _ ending: FaultEffect.Ending) throws(ExchangeEnd) -> Bool {
    try exchange.note(.lost(status: answer.status, cause: ending.rawValue))
    exchange.log(answer.status, " \(ending.rawValue)")
    switch ending {
    case .loseAnswer, .wrongDigest: break
    case .garbage: try exchange.socket.send(garbage())
    case .truncateAnswer: try sendHalf(answer)
    }
    exchange.socket.finishSending(milliseconds: 1000)
    return false
  }

  /// Sends the complete head and half of the body, or half of the head if the answer has no body.
  private func sendHalf(_ answer: Answer) throws(ExchangeEnd) {
    let bytes = answer.head(closing: true, nowSeconds: Int(wallMilliseconds() / 1000))
    let isChunked = answer.framing == .chunked
    if exchange.head.method == "HEAD" || answer.contentLength == 0 {
      return try exchange.socket.send(Array(bytes[..<(bytes.count / 2)]))
    }
    try exchange.socket.send(bytes)
    if let file = answer.file {
      var half = file
      half.range = ByteRange(offset: file.range.offset, length: file.range.length / 2)
      try stream(half, isChunked: isChunked)
    } else {
      if isChunked { try exchange.socket.send(Self.chunkHead(answer.contentLength)) }
      try exchange.socket.send(Array(answer.body[..<(answer.body.count / 2)]))
    }
  }

  /// 64 bytes that are not HTTP, always the same for the same seed and request.
  private func garbage() -> [UInt8] {
    (0..<64).map { i in
      i == 0 ? 0 : UInt8(unitInterval(exchange.core.settings.seed, UInt64(exchange.request), UInt64(i)) * 256)
    }
  }

  /// Ends a connection whose request was not answered in the normal way. Always returns false.
  func close(after end: ExchangeEnd) -> Bool {
    switch end {
    case .refuse(let answer): return answerAtLast(answer)
    case .timedOut: return answerAtLast(Answer(408, text: "nothing arrived for \(exchange.core.settings.timeoutMs) ms"))
    case .cut, .reset, .gone, .superseded: return lose(0, because: end)
    }
  }

  private func answerAtLast(_ answer: Answer) -> Bool {
    do throws(ExchangeEnd) {
      try exchange.note(.answer(status: answer.status))
      try transmit(answer, closing: true)
    } catch {
      return lose(answer.status, because: error)
    }
    exchange.log(answer.status, "")
    exchange.socket.finishSending(milliseconds: 2000)
    return false
  }

  /// Records that the client will not see an answer, and closes the connection as `end` says. If the record cannot be
  /// written either, the closed connection is the only sign.
  private func lose(_ status: Int, because end: ExchangeEnd) -> Bool {
    let cause =
      switch end {
      case .cut: "cut-after"
      case .reset: "reset-after"
      case .superseded: "superseded"
      case .timedOut, .gone, .refuse: "disconnected"
      }
    try? exchange.note(.lost(status: status, cause: cause))
    exchange.log(status, " \(cause)")
    if case .reset = end { exchange.socket.resetOnClose() }
    if case .cut = end { exchange.socket.finishSending(milliseconds: 1000) }
    return false
  }

  /// The answer with the fields and the framing that the script sets.
  private func shaped(_ answer: Answer) -> Answer {
    var answer = answer
    answer.fields.removeAll { exchange.effect.omitted.contains($0.name.lowercased()) }
    if let field = exchange.effect.field {
      answer.fields.removeAll { $0.name.lowercased() == field.name.lowercased() }
      answer.fields.append(field)
    }
    answer.framing = exchange.effect.framing == .chunked && exchange.head.isHTTP10 ? .close : exchange.effect.framing
    return answer
  }
}
