import TransferModel

/// An S3 bucket whose listing comes in short pages, with a record of the requests.
final class ScriptedBucket: Sendable {
  struct State: Sendable {
    /// Key to content.
    var objects: [String: String] = [:]
    /// Sizes in the listing, if they differ from those of the objects.
    var listedSizes: [String: Int] = [:]
    var pageSize = 3
    /// Keys that are listed but answered as missing when they are requested.
    var gone: Set<String> = []
    /// The token of each request for a page; empty for the first.
    var pages: [String] = []
    /// Keys that were requested.
    var gets: [String] = []
    /// How many requests for pages are still answered.
    var pagesLeft = Int.max
    /// The status that all requests for pages get instead of a page.
    var refusal: Int?
  }
  let state: Lock<State>
  private let unanswered = Mailbox<Void>()

  init(_ objects: [String: String]) { state = Lock(State(objects: objects)) }

  /// Waits for a request for a page that is not answered; throws if none arrives.
  func waitForSilence() throws {
    // A limit for failures only; a passing test never waits this long.
    guard unanswered.take(timeoutMs: 60_000)?.isEmpty == false else { throw SystemFailure("wait for a listing") }
  }

  func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Reply? {
    let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
    return state.withLock { state in
      guard parts.count == 2 else { return object(String(parts[0].dropFirst("/bucket/".count)), request, &state) }
      var query: [String: String] = [:]
      for pair in parts[1].split(separator: "&") {
        let halves = pair.split(separator: "=", maxSplits: 1).map { Self.decoded(String($0)) }
        query[halves[0]] = halves.count > 1 ? halves[1] : ""
      }
      return page(query, &state)
    }
  }

  private func page(_ query: [String: String], _ state: inout State) -> ScriptedServer.Reply? {
    let after = query["continuation-token"] ?? ""
    state.pages.append(after)
    guard state.pagesLeft > 0 else {
      unanswered.put(())
      return nil
    }
    state.pagesLeft -= 1
    if let refusal = state.refusal { return .init(status: refusal) }
    let keys = state.objects.keys.filter { $0.hasPrefix(query["prefix"] ?? "") && $0 > after }.sorted()
    let some = keys.prefix(state.pageSize)
    let contents = some.map { key in
      let text = state.objects[key] ?? ""
      return "<Contents><Key>\(key)</Key><Size>\(state.listedSizes[key] ?? text.utf8.count)</Size>"
        + "<ETag>\(Self.etag(text).replacing("\"", with: "&quot;"))</ETag></Contents>"
    }.joined()
    let isCut = keys.count > some.count
    return .init(
      body: "<ListBucketResult><IsTruncated>\(isCut)</IsTruncated>"
        + (isCut ? "<NextContinuationToken>\(some.last ?? "")</NextContinuationToken>" : "") + contents
        + "</ListBucketResult>")
  }

  private func object(
    _ path: String, _ request: ScriptedServer.Request, _ state: inout State
  ) -> ScriptedServer.Reply {
    let key = Self.decoded(path)
    state.gets.append(key)
    guard let text = state.objects[key], !state.gone.contains(key) else { return .init(status: 404) }
    return .init(headers: [("ETag", Self.etag(text))], body: text)
  }

  private static func etag(_ text: String) -> String { "\"v-\(text)\"" }

  private static func decoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        bytes.append(byte)
        continue
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
