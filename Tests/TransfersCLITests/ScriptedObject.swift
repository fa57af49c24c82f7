import TransferModel
import TransferTestSupport

/// One object that is fetched whole or in ranges, with a record of what is requested and sent.
final class ScriptedObject: Sendable {
  struct State: Sendable {
    var text: String
    var etag = "\"v1\""
    /// `bytes=0-9` of each GET, or `whole`.
    var ranges: [String] = []
    /// Conditions of the GETs with a range.
    var conditions: Set<String> = []
    var bytesSent = 0
    /// How many GETs are still answered.
    var answersLeft = Int.max
  }
  let state: Lock<State>
  private let unanswered = Mailbox<Void>()

  /// - Parameter size: number of bytes of the object, all of them printable.
  init(size: Int) {
    state = Lock(State(text: String(decoding: printableNoise(size), as: UTF8.self)))
  }

  /// Waits for a GET that is not answered; throws if none arrives.
  func waitForSilence() throws {
    // A limit for failures only; a passing test never waits this long.
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
      let bytes = Array(state.text.utf8)[range.lowerBound...min(range.upperBound, state.text.utf8.count - 1)]
      let content = "bytes \(bytes.startIndex)-\(bytes.endIndex - 1)/\(state.text.utf8.count)"
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
