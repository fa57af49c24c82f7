import Glibc
import TransferModel

/// As much of S3 as a multipart upload needs, with a record of what arrives.
final class ScriptedS3: Sendable {
  struct State: Sendable {
    /// Part number to size and MD5, which is taken from `Content-MD5`.
    var parts: [Int: (size: Int, md5: String)] = [:]
    var partBytes = 0
    var partRequests = 0
    var requests: [String] = []
    /// Whether parts are stored but never answered.
    var isSilent = true
    /// The number of a part that is listed with the digest of other content, as if another client had sent it.
    var foreignPart: Int?
  }
  let state = Lock(State())
  private let stored = Mailbox<Void>()

  /// Waits until this many parts are stored; throws if they do not arrive.
  func waitForParts(_ count: Int) throws {
    while state.withLock({ $0.parts.count }) < count {
      // A limit for failures only; a passing test never waits this long.
      guard stored.take(timeoutMs: 60_000)?.isEmpty == false else { throw SystemFailure("wait for \(count) parts") }
    }
  }

  func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Reply? {
    let query = request.target.split(separator: "?").dropFirst().first.map(String.init) ?? ""
    return state.withLock { state in
      state.requests.append(
        "\(request.method) \(query.split(separator: "&").map { $0.prefix { $0 != "=" } }.joined(separator: "&"))")
      switch request.method {
      case "POST" where query.hasPrefix("uploads"):
        return .init(body: Self.xml("InitiateMultipartUploadResult", "<UploadId>U1</UploadId>"))
      case "PUT":
        let number =
          query.split(separator: "&").first { $0.hasPrefix("partNumber=") }.flatMap { Int($0.dropFirst(11)) } ?? 0
        state.partRequests += 1
        state.partBytes += request.body.count
        let md5 = Self.hex(request.headers["content-md5"] ?? "")
        state.parts[number] = (request.body.count, md5)
        stored.put(())
        return state.isSilent ? nil : .init(headers: [("ETag", "\"\(md5)\"")])
      case "GET":
        let parts = state.parts.sorted { $0.key < $1.key }.map { number, part in
          let md5 = state.foreignPart == number ? String(part.md5.reversed()) : part.md5
          return
            "<Part><PartNumber>\(number)</PartNumber><Size>\(part.size)</Size><ETag>&quot;\(md5)&quot;</ETag></Part>"
        }
        return .init(body: Self.xml("ListPartsResult", parts.joined() + "<IsTruncated>false</IsTruncated>"))
      case "POST":
        return .init(
          body: Self.xml("CompleteMultipartUploadResult", "<ETag>&quot;whole-\(state.parts.count)&quot;</ETag>"))
      case "HEAD": return .init(status: 404)
      default: return .init(status: 204)
      }
    }
  }

  private static func xml(_ root: String, _ inner: String) -> String {
    "<?xml version=\"1.0\"?><\(root) xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(inner)</\(root)>"
  }

  private static func hex(_ base64: String) -> String {
    (bytesFromBase64(base64) ?? []).map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }
}
