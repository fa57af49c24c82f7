import TransferModel

#if canImport(Glibc)
  import Glibc
#endif

/// A server whose answers a test decides, with one connection per request. It reads a body only if the test wants it.
final class AnsweringServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    /// By lower-case names.
    let fields: [String: String]
  }

  enum Reaction: Sendable {
    /// Reads the body and answers.
    case answer(String)
    /// Closes the connection without reading more of the body.
    case hangUp
  }

  private let listener: LoopbackListener
  private let seen: Lock<[Request]>

  var url: String { listener.url }

  init(_ react: @escaping @Sendable (Request) -> Reaction) throws {
    let seen = Lock<[Request]>([])
    self.seen = seen
    // A short buffer, so that little of a body is sent that nobody reads.
    listener = try LoopbackListener(receiveBuffer: 65_536) { Self.serve($0, seen, react) }
  }

  func count(_ method: String) -> Int { requests(method).count }

  func requests(_ method: String) -> [Request] { seen.withLock { $0.filter { $0.method == method } } }

  private static func serve(_ client: Int32, _ seen: Lock<[Request]>, _ react: (Request) -> Reaction) {
    guard let (request, received) = readHead(client) else { return }
    seen.withLock { $0.append(request) }
    if case .answer(let text) = react(request) { finish(client, request, received, text) }
  }

  private static func finish(_ client: Int32, _ request: Request, _ received: Int, _ text: String) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var left = (request.fields["content-length"].flatMap { Int($0) } ?? 0) - received
    while left > 0 {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      left -= count
    }
    LoopbackListener.send(text, to: client)
  }

  /// The head, and the number of bytes of the body that came with it; nil if the client is gone.
  private static func readHead(_ client: Int32) -> (Request, Int)? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[0..<count]
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
      return (parse(String(decoding: bytes[..<end.lowerBound], as: UTF8.self)), bytes.count - end.upperBound)
    }
  }

  private static func parse(_ head: String) -> Request {
    let lines = head.split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ").map(String.init) + ["", ""]
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return Request(method: words[0], target: words[1], fields: fields)
  }
}
