import TransferModel

/// Requests below `/-/holds/`, by which a test in another process waits for held requests and releases them. They are
/// not part of what is tested: script rules do not apply to them, they need no credential, and they appear neither in
/// the record nor in the summary.
///
///     GET /-/holds/NAME?count=N   waits until N requests (default 1) are held under the name: 200; 410 when that
///                                 cannot happen, because the hold was released
///     DELETE /-/holds/NAME        releases all requests held under the name, now and later: 204
struct HoldControl {
  private static let prefix = "/-/holds/"

  let core: ReceiverCore
  let socket: Socket
  let head: RequestHead

  /// nil for any other request.
  init?(_ core: ReceiverCore, _ socket: Socket, _ head: RequestHead) {
    guard head.path.starts(with: Self.prefix.utf8) else { return nil }
    self.core = core
    self.socket = socket
    self.head = head
  }

  /// The answer; the connection ends after it.
  func answer() throws(ExchangeEnd) -> Answer {
    let name = String(decoding: head.path.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
    guard core.holds.has(name) else { throw .refuse(404, "the script has no hold with this name") }
    switch head.method {
    case "GET": return try wait(for: name)
    case "DELETE":
      core.holds.release(name)
      return Answer(204)
    default: throw .refuse(405, "a hold takes GET and DELETE", fields: [Answer.Field("Allow", "GET, DELETE")])
    }
  }

  private func wait(for name: String) throws(ExchangeEnd) -> Answer {
    let count = try Query(head.query).number("count") ?? 1
    do throws(TransferError) {
      let isHeld = try core.holds.waitUntilHeld(name, count: Int(count), socket: socket.number)
      return Answer(isHeld ? 200 : 410, text: isHeld ? "held" : "released")
    } catch {
      throw .refuse(500, error.cause)
    }
  }
}
