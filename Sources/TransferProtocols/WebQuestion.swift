import HTTPTypes
import TransferModel

/// A query about an object at the URL of its key: HEAD (RFC 9110 section 9.3.2).
struct WebQuestion {
  let url: String
  /// Whether the file itself is a web page.
  var isPage = false

  func request(_ context: RequestContext) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    fields[HTTPField.Name("want-repr-digest")!] = "crc32c=10, sha-256=5, md5=3"
    return TransferRequest(method: .head, url: url, fields: fields)
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
    case 404, 410: return .absent(reply)
    case 400, 403, 405, 501: return .refused(reply)
    default: return ObjectAnswer(Interpretation.refused(reply, context))
    }
  }
}
