import TransferModel

/// The answer to CompleteMultipartUpload: a 200 is a success only if its complete body says so. Servers send the status
/// first, and the outcome when they know it. The root is a `…Result`; in moto it is a `…Response`, as it once was in
/// S3.
struct S3CompleteAnswer {
  let answer: S3Answer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }
  private var context: RequestContext { answer.context }

  var interpretation: Interpretation {
    if reply.status == 200 {
      guard let root = reply.completeDocument else {
        return answer.badReply("the answer to CompleteMultipartUpload cannot be read", .probe)
      }
      if root.name == "Error" { return refused(S3Error(reply, root: root)) }
      guard root.name.hasPrefix("CompleteMultipartUpload"), let etag = root.value("ETag"), !S3Tag.bare(etag).isEmpty,
        etag.utf8.count <= TransferReply.longestTag
      else { return answer.badReply("no ETag in the answer to complete", .probe) }
      let echoed = S3Tag.checksum(root.value("ChecksumCRC64NVME") ?? reply.field(S3Protocol.checksumField))
      return MultipartProof(of: facts).interpretation(of: reply, etag: etag, echoed: echoed, isVerified: false)
    }
    return refused(S3Error(reply))
  }

  private func refused(_ error: S3Error) -> Interpretation {
    // A 200 that contains an error stands for a 500.
    var refusal = answer
    if refusal.reply.status == 200 { refusal.reply.status = 500 }
    let status = refusal.reply.status
    let meaning = refusal.failed(error, .finish)
    switch error.meaning(status: status) {
    case .exists: return answer.exists()
    case .retry, .partsWrong:
      if case .failed(let failure, _) = meaning.outcome { return .failed(failure, .probe) }
    case .sessionGone: return sessionGone()
    case .permanent where status == 404 && error.code.isEmpty: return sessionGone()
    // The parts were confirmed individually, so sending them again would not help; a person must investigate.
    case .mismatch:
      return .failed(
        Failure(answer: refusal.reply, code: .integrityMismatch, detail: error.code, wallMs: context.wallMs), .permanent
      )
    default: break
    }
    return meaning
  }

  /// An upload that is gone was completed, perhaps by a request of ours whose answer was lost or that an intermediary
  /// repeated: the object is queried before anything is sent again.
  ///
  /// If queries are not allowed, the state of the upload is the only evidence. After a lost answer to our own
  /// CompleteMultipartUpload, an upload that is gone was completed by it. Rules that remove unfinished uploads count
  /// whole days, so after a day such a rule may have removed it, and the outcome is unknown. An upload that was gone
  /// before the first CompleteMultipartUpload was not completed by us.
  private func sessionGone() -> Interpretation {
    let failure = Failure(.protoSessionGone, "the server does not know the upload any more")
    if facts.isAbsent { return .failed(failure, .sessionGone) }
    guard facts.lostAnswer == .finish || facts.lostAnswer == .verify else {
      return .failed(failure, .probe).with(notes: [Self.goneNote: "1"])
    }
    guard facts.inconclusive.contains(.verify) else { return .failed(failure, .probe) }
    guard facts.session?.notes[Self.goneNote] == nil else { return .failed(failure, .sessionGone) }
    guard let session = facts.session, context.wallMs - session.intendedAtMs < Self.ruleMs else {
      let text = """
        the answer to completing the upload was lost, the upload is gone since, and the server does not say whether the \
        object is there; grant s3:GetObject and s3:ListBucket, or look for it
        """
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    return .finished(
      FileProof(
        confirmation: .none, digest: MultipartProof(of: facts).checksum,
        requestID: reply.serverRequestID, serverDate: reply.field("date") ?? ""))
  }

  /// In the notes of a session: the answer to the first CompleteMultipartUpload was that there is no such upload.
  private static let goneNote = "gone"
  /// The shortest time after which servers remove unfinished uploads on their own, in milliseconds: AWS rules and
  /// MinIO's cleanup begin at one day.
  private static let ruleMs: Int64 = 86_400_000
}
