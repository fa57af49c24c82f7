import TransferModel

/// The answer to PATCH, which states the position of its body.
struct DavPatchBodyAnswer {
  let answer: DavPatchAnswer
  let chunk: ChunkFacts

  var interpretation: Interpretation {
    let reply = answer.reply
    switch reply.status {
    case 200 where reply.isWebPage: return answer.badReply(.probe)
    case 200, 201, 204: return stored()
    case 404, 410: return answer.gone()
    case 409, 416: return .failed(answer.failure, .probe)
    case _ where reply.answersAnother: return answer.badReply(.probe)
    case 405, 415, 501: return .failed(DavPatchProtocol.unsupported, .permanent)
    case 413: return tooLong()
    default: return answer.refused()
    }
  }

  private func stored() -> Interpretation {
    let acked = chunk.body.end - chunk.range.offset
    guard acked == chunk.range.length else { return .advanced(acked: acked) }
    let part = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: chunk.digests[answer.dav.sentDigest],
      confirmation: .none)
    return .stored(part, proof: nil)
  }

  /// An intermediate proxy may limit bodies: shorter ones are tried, down to 1 MiB.
  private func tooLong() -> Interpretation {
    let least: Int64 = 1 << 20
    guard chunk.body.length > least else { return .failed(answer.failure, .permanent) }
    let shorter = max(least, min(chunk.body.length / 2, DavPatchProtocol.defaultPart))
    return .failed(answer.failure, .probe).with(notes: [DavPatchProtocol.Note.body: "\(shorter)"])
  }
}
