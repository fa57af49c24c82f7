import Glibc

/// The life of one connection: one request after the other until one side closes it. Runs on its own thread.
struct Connection {
  let core: ReceiverCore
  let socket: Socket
  let number: Int64

  func serve() {
    while true {
      do throws(ExchangeEnd) {
        guard let bytes = try socket.nextHead() else { return }
        let head = try RequestHead(bytes)
        if let control = HoldControl(core, socket, head) { return try finish(with: try control.answer()) }
        guard Exchange(core, socket, head, connection: number).run() else { return }
      } catch {
        return refuse(error)
      }
    }
  }

  private func finish(with answer: Answer) throws(ExchangeEnd) {
    try socket.send(answer.head(closing: true, nowSeconds: Int(wallMilliseconds() / 1000)) + answer.body)
    socket.finishSending(milliseconds: 1000)
  }

  /// Answers data that is not a valid request. It has no path, so the record leaves it out.
  private func refuse(_ end: ExchangeEnd) {
    let answer: Answer
    switch end {
    case .refuse(let refusal): answer = refusal
    case .timedOut: answer = Answer(408, text: "the request head did not arrive within \(core.settings.timeoutMs) ms")
    case .cut, .reset, .gone, .superseded: return
    }
    do throws(ExchangeEnd) { try finish(with: answer) } catch { return }
    core.settings.log?("invalid request: \(answer.status)")
  }
}
