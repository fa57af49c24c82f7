import TransferModel

/// One object that is fetched whole or in ranges, with a count of what is asked for and sent.
final class ScriptedObject: Sendable {
  struct State: Sendable {
    var text: String
    var etag = "\"v1\""
    /// `bytes=0-9` of each GET, or `whole`.
    var ranges: [String] = []
    /// Conditions of those with a range.
    var conditions: Set<String> = []
    var bytesSent = 0
    /// GETs after so many are not answered.
    var answersLeft = Int.max
  }
  let state: Lock<State>
  private let unanswered = Mailbox<Void>()

  /// - Parameter size: bytes of the object, which are printable.
  init(size: Int) {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<size).map { _ in UInt8.random(in: 0x21...0x7E, using: &generator) }
    state = Lock(State(text: String(decoding: bytes, as: UTF8.self)))
  }

  /// Returns when a GET is not answered; throws when none comes.
  func waitForSilence() throws {
    // A limit for what has failed; nothing is awaited for so long.
    guard unanswered.take(timeoutMs: 60_000)?.isEmpty == false else { throw SystemFailure("wait for a GET") }
  }

  func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Reply? {
    state.withLock { state in
      let fields = [("ETag", state.etag), ("Accept-Ranges", "bytes")]
      guard request.method == "GET" else { return .init(headers: fields, body: state.text) }
      state.ranges.append(request.headers["range"] ?? "whole")
      guard state.answersLeft > 0 else {
        unanswered.put(())
        return nil
      }
      state.answersLeft -= 1
      if request.headers["if-none-match"] == state.etag { return .init(status: 304, headers: fields, body: "") }
      let condition = request.headers["if-range"]
      if let condition { state.conditions.insert(condition) }
      guard let range = request.headers["range"].flatMap(Self.range), condition == nil || condition == state.etag
      else {
        state.bytesSent += state.text.utf8.count
        return .init(headers: fields, body: state.text)
      }
      let content = "bytes \(range.lowerBound)-\(range.upperBound)/\(state.text.utf8.count)"
      let bytes = Array(state.text.utf8)[range]
      state.bytesSent += bytes.count
      return .init(
        status: 206, headers: fields + [("Content-Range", content)], body: String(decoding: bytes, as: UTF8.self))
    }
  }

  private static func range(_ field: String) -> ClosedRange<Int>? {
    let ends = field.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    return ends.count == 2 ? ends[0]...ends[1] : nil
  }
}
