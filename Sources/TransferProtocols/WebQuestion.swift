import HTTPTypes
import TransferModel

/// A query about an object at the URL of its key: HEAD (RFC 9110 section 9.3.2). An empty one is queried with GET:
/// Apache httpd 2.4.71 omits `Content-Length: 0` from answers to HEAD. The range bounds the answer if it is not empty.
struct WebQuestion {
  let url: String
  /// Whether the confirmed object is empty.
  let isEmpty: Bool
  /// Whether the file itself is a web page.
  var isPage = false

  func request(_ context: RequestContext) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    fields[HTTPField.Name("want-repr-digest")!] = "crc32c=10, sha-256=5, md5=3"
    if isEmpty { fields[.range] = "bytes=0-0" }
    return TransferRequest(method: isEmpty ? .get : .head, url: url, fields: fields)
  }

  /// 404 and 410 mean that the object does not exist. An unexpected web page comes from an intermediary.
  func answer(_ reply: TransferReply, _ object: StoredObject, _ context: RequestContext) -> ObjectAnswer {
    if let failure = reply.transportFailure { return .lost(failure) }
    switch reply.status {
    case 200 where reply.isWebPage && !isPage: return .inconclusive("the server answers with a web page")
    case 200, 204:
      // With a content coding it would be the encoded length.
      let isPlain = reply.field("content-encoding") == nil
      return object.compared(
        reply, size: isPlain ? reply.number("content-length") : nil,
        digests: ToldDigests.all(reply.fields, isWhole: isPlain), etag: reply.field("etag") ?? "")
    case 206 where isEmpty: return answer(toRange: reply, object)
    case 416 where isEmpty: return answer(toRange: reply, object)
    case 404, 410: return .absent(reply)
    case 400, 403, 405, 501: return .refused(reply)
    default: return ObjectAnswer(Interpretation.refused(reply, context))
    }
  }

  /// 206 if the object is not empty any more, 416 if it still is; both with its size.
  private func answer(toRange reply: TransferReply, _ object: StoredObject) -> ObjectAnswer {
    object.compared(
      reply, size: ContentRange(reply.fields[.contentRange])?.size,
      digests: ToldDigests.all(reply.fields, isWhole: false), etag: reply.field("etag") ?? "")
  }
}
