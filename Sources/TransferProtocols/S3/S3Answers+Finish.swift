import TransferModel

extension S3Protocol {
  /// CompleteMultipartUpload: a 200 is a success only if its complete body says so. Servers send the status first, and
  /// the outcome when they know it. The root is a `…Result`; in moto it is a `…Response`, as it once was in S3.
  func interpretComplete(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if reply.status == 200 {
      guard let root = document(reply) else {
        return badReply(reply, "the answer to CompleteMultipartUpload cannot be read", .probe, context)
      }
      if root.name == "Error" { return refusedComplete(reply, S3Error(reply, root: root), facts, context) }
      guard root.name.hasPrefix("CompleteMultipartUpload"), let etag = root.value("ETag"), !Self.bare(etag).isEmpty,
        etag.utf8.count <= TransferReply.longestTag
      else { return badReply(reply, "no ETag in the answer to complete", .probe, context) }
      let echoed = Self.checksum(root.value("ChecksumCRC64NVME") ?? reply.field(Self.checksumField))
      return finished(reply, etag: etag, echoed: echoed, facts, isVerified: false)
    }
    return refusedComplete(reply, S3Error(reply), facts, context)
  }

  private func refusedComplete(
    _ reply: TransferReply, _ error: S3Error, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    // A 200 that contains an error stands for a 500.
    var answer = reply
    if answer.status == 200 { answer.status = 500 }
    let meaning = failed(answer, error, .finish, facts, context)
    switch error.meaning(status: answer.status) {
    case .exists: return exists(answer, facts)
    case .retry, .partsWrong:
      if case .failed(let failure, _) = meaning.outcome { return .failed(failure, .probe) }
    case .sessionGone: return sessionGone(reply, facts, context)
    case .permanent where answer.status == 404 && error.code.isEmpty: return sessionGone(reply, facts, context)
    // The parts were confirmed individually, so sending them again would not help; a person must investigate.
    case .mismatch:
      return .failed(
        Failure(answer: answer, code: .integrityMismatch, detail: error.code, wallMs: context.wallMs), .permanent)
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
  private func sessionGone(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation
  {
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
        confirmation: .none, digest: MultipartProof(facts.parts.sorted { $0.seq < $1.seq }).checksum,
        requestID: reply.serverRequestID, serverDate: reply.field("date") ?? ""))
  }

  /// In the notes of a session: the answer to the first CompleteMultipartUpload was that there is no such upload.
  static let goneNote = "gone"
  /// The shortest time after which servers remove unfinished uploads on their own, in milliseconds: AWS rules and
  /// MinIO's cleanup begin at one day.
  private static let ruleMs: Int64 = 86_400_000

  /// Interprets HEAD after a lost answer: the object is ours by its uid, or by a digest that only our content has.
  func interpretVerify(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    case 200: break
    case 404: return .absent
    default:
      // AWS answers 403 for objects that may not be read, and without permission to list also for nonexistent ones; an
      // expired token gives a bare 400. If the credential is the cause, the answer to the next request says so.
      let error = S3Error(reply)
      return cannotBeAsked(reply, error) ? .inconclusive : failed(reply, error, .verify, facts, context)
    }
    let etag = reply.field("etag") ?? ""
    let echoed =
      reply.field("x-amz-checksum-type") == "COMPOSITE" ? nil : Self.checksum(reply.field(Self.checksumField))
    let isOurs = reply.field(Self.uidField) == facts.file.uid.description || isProved(etag: etag, echoed, facts)
    guard isOurs else {
      let other = Failure(.policyExists, "there is already an object with this key (--if-none-match)")
      return settings.ifNoneMatch ? .failed(other, .permanent) : .absent
    }
    guard let length = reply.field("content-length").flatMap({ Int64($0) }), length == facts.file.size else {
      let text =
        "the object has \(printable(reply.field("content-length") ?? "an unknown number of")) bytes, not \(facts.file.size)"
      return .failed(Failure(.integrityMismatch, text), .retry(isThrottled: false))
    }
    return finished(reply, etag: etag, echoed: echoed, facts, isVerified: true)
  }

  private func isProved(etag: String, _ echoed: Digest?, _ facts: TransferFacts) -> Bool {
    let proof = MultipartProof(facts.parts)
    if let whole = proof.checksum, whole == echoed { return true }
    return proof.etag.map { $0 == Self.bare(etag).lowercased() } ?? false
  }

  /// The object exists. A proof in the answer about the whole object counts; otherwise the weakest confirmation of a
  /// part.
  private func finished(
    _ reply: TransferReply, etag: String, echoed: Digest?, _ facts: TransferFacts, isVerified: Bool
  ) -> Interpretation {
    let known = MultipartProof(facts.parts.sorted { $0.seq < $1.seq })
    if let whole = known.checksum, let echoed, whole != echoed {
      let text = "the server stored \(echoed), but we sent \(whole)"
      return .failed(Failure(.integrityMismatch, text), .permanent)
    }
    var proof = FileProof(
      confirmation: .none, digest: known.checksum, remoteDigest: echoed, etag: etag,
      versionID: reply.field("x-amz-version-id") ?? "", requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
    if known.checksum != nil && echoed != nil {
      proof.confirmation = .digest
    } else if let expected = known.etag, expected == Self.bare(etag).lowercased() {
      proof.confirmation = .etag
    } else {
      proof.confirmation = weaker(known.weakest, isVerified)
      // I08 of the ledger: a confirmation by digest needs the digests of both sides. The parts have both; their
      // combination is the object's.
      if proof.confirmation == .digest { proof.remoteDigest = known.checksum }
    }
    return .finished(proof)
  }

  private func weaker(_ weakest: Confirmation, _ isVerified: Bool) -> Confirmation {
    weakest == .none && isVerified ? .size : weakest
  }
}
