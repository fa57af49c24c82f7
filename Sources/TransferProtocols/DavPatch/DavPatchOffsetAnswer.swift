import TransferModel

/// The answer to HEAD of the temporary object: its length is the number of bytes that the server has. If it is longer
/// than what can have been sent, it has a gap: a write beyond the end of an object fills the gap with zeros
/// (sabre.io/dav/http-patch). If the length is not reported, unacknowledged bytes are sent again to their place.
struct DavPatchOffsetAnswer {
  let answer: DavPatchAnswer

  var interpretation: Interpretation {
    let (reply, layout) = (answer.reply, answer.facts.layout)
    switch reply.status {
    case _ where reply.isSuccess:
      guard let length = answer.length else { return .inconclusive }
      let sent = layout.range(min(answer.facts.storedChunks, layout.count - 1)).end
      guard length <= sent else {
        let text = "the temporary object has \(length) bytes, but at most \(sent) were sent"
        return .failed(Failure(.protoOffset, text), answer.actionIfDifferent)
      }
      return .offset(length)
    case 404, 410: return answer.gone()
    case 400, 403, 405, 501: return .inconclusive
    default: return answer.refused()
    }
  }
}
