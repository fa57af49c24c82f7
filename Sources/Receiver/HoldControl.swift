import TransferModel

/// Requests below `/-/holds/`, by which a test in another process waits for held requests and releases them. They are
/// no part of what is tested: no rule of the script is for them, they need no credential, and the record and the
/// summary leave them out.
///
///     GET /-/holds/NAME?count=N   waits until N requests (1 without a count) are held under the name: 200; 410 when
///                                 there will not be so many, because the hold was released
///     DELETE /-/holds/NAME        lets go on what is held under the name, now and later: 204
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

  /// The answer, behind which the connection ends.
  func answer() throws(ExchangeEnd) -> Answer {
    let name = String(decoding: head.path.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
    guard core.holds.has(name) else { throw .refuse(404, "the script has no hold with this name") }
    switch head.method {
    case "GET": return try wait(for: name)
    case "DELETE":
      core.holds.release(name)
      return Answer(204)
    default: throw .refuse(405, "a hold is awaited or released", fields: [Answer.Field("Allow", "GET, DELETE")])
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
