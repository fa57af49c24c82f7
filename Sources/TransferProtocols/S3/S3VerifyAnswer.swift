import TransferModel

/// The answer to HEAD after a lost answer: the object is ours by its uid, or by a digest that only our content has.
struct S3VerifyAnswer {
  let answer: S3Answer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }

  var interpretation: Interpretation {
    switch reply.status {
    case 200: break
    case 404: return .absent
    default:
      // AWS answers 403 for objects that may not be read, and without permission to list also for nonexistent ones; an
      // expired token gives a bare 400. If the credential is the cause, the answer to the next request says so.
      let error = S3Error(reply)
      return answer.cannotBeAsked(error) ? .inconclusive : answer.failed(error, .verify)
    }
    let etag = reply.field("etag") ?? ""
    let echoed =
      reply.field("x-amz-checksum-type") == "COMPOSITE" ? nil : S3Tag.checksum(reply.field(S3Protocol.checksumField))
    let isOurs = reply.field(S3Protocol.uidField) == facts.file.uid.description || isProved(etag: etag, echoed)
    guard isOurs else {
      let other = Failure(.policyExists, "there is already an object with this key (--if-none-match)")
      return answer.settings.ifNoneMatch ? .failed(other, .permanent) : .absent
    }
    guard let length = reply.field("content-length").flatMap({ Int64($0) }), length == facts.file.size else {
      let text =
        "the object has \(printable(reply.field("content-length") ?? "an unknown number of")) bytes, not \(facts.file.size)"
      return .failed(Failure(.integrityMismatch, text), .retry(isThrottled: false))
    }
    return MultipartProof(of: facts).interpretation(of: reply, etag: etag, echoed: echoed, isVerified: true)
  }

  private func isProved(etag: String, _ echoed: Digest?) -> Bool {
    let proof = MultipartProof(facts.parts)
    if let whole = proof.checksum, whole == echoed { return true }
    return proof.etag.map { $0 == S3Tag.bare(etag).lowercased() } ?? false
  }
}
