import TransferModel

extension S3Protocol {
  /// CompleteMultipartUpload: a 200 is a success only when its body says so to the end. Servers send the status first
  /// and the outcome when they know it. The root is a `…Result`; moto says `…Response`, as S3 did once.
  func interpretComplete(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if reply.status == 200 {
      guard let root = document(reply) else {
        return badReply(reply, "the answer to complete cannot be read", .probe, context)
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
    // A 200 with an error inside has lost its status; 500 is what it stands for.
    var answer = reply
    if answer.status == 200 { answer.status = 500 }
    let meaning = failed(answer, error, .finish, facts, context)
    switch error.meaning(status: answer.status) {
    case .exists: return exists(answer, facts)
    case .retry, .partsWrong:
      if case .failed(let failure, _) = meaning.outcome { return .failed(failure, .probe) }
    case .sessionGone: return sessionGone(reply, facts, context)
    case .permanent where answer.status == 404 && error.code.isEmpty: return sessionGone(reply, facts, context)
    // The parts were confirmed one by one, so sending them again cures nothing; a person has to look.
    case .mismatch:
      return .failed(
        Failure(answer: answer, code: .integrityMismatch, detail: error.code, wallMs: context.wallMs), .permanent)
    default: break
    }
    return meaning
  }

  /// An upload that is gone was completed, perhaps by a request of ours whose answer was lost or that something in
  /// between repeated: the object is looked for before anything is sent again.
  ///
  /// Where looking is not allowed, what became of the upload is the only word: after a lost answer to our own Complete
  /// an upload that is gone was completed by it. Rules that remove unfinished uploads count whole days, so after one it
  /// may have been such a rule, and nobody knows. An upload that was gone before a first Complete was not completed by
  /// us.
  private func sessionGone(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation
  {
    let failure = Failure(.protoSessionGone, "the server does not know the upload any more")
    if facts.isAbsent { return .failed(failure, .sessionGone) }
    guard facts.lostAnswer == .finish || facts.lostAnswer == .verify else {
      return .failed(failure, .probe).with(notes: [Self.goneNote: "1"])
    }
    guard facts.untold.contains(.verify) else { return .failed(failure, .probe) }
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

  /// In the notes of a session: the first Complete was told that there is no such upload.
  static let goneNote = "gone"
  /// The shortest time after which servers remove unfinished uploads by themselves, in milliseconds: AWS rules and
  /// MinIO's own sweep begin at one day.
  private static let ruleMs: Int64 = 86_400_000

  /// HEAD after an answer that never came: ours by its uid, or by a digest that only our content has.
  func interpretVerify(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    switch reply.status {
    case 200: break
    case 404: return .absent
    default:
      // AWS answers 403 for whatever may not be read, and without permission to list also for what does not exist; an
      // expired token is a bare 400. If it is the credential, the next request says so in words.
      let error = S3Error(reply)
      return cannotBeAsked(reply, error) ? .untold : failed(reply, error, .verify, facts, context)
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

  /// The object is there. What the answer proves of the whole counts; else what the weakest part was confirmed by.
  private func finished(
    _ reply: TransferReply, etag: String, echoed: Digest?, _ facts: TransferFacts, isVerified: Bool
  ) -> Interpretation {
    let known = MultipartProof(facts.parts.sorted { $0.seq < $1.seq })
    if let whole = known.checksum, let echoed, whole != echoed {
      let text = "the server stored \(echoed), and we sent \(whole)"
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
      // I08 of the ledger: a digest that confirms has both sides. The parts had; their combination is the object's.
      if proof.confirmation == .digest { proof.remoteDigest = known.checksum }
    }
    return .finished(proof)
  }

  private func weaker(_ weakest: Confirmation, _ isVerified: Bool) -> Confirmation {
    weakest == .none && isVerified ? .size : weakest
  }
}
