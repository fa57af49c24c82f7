import TransferModel

/// The proof about the whole object from the receipts of all parts.
struct MultipartProof {
  /// The CRC64NVME of the whole object, combined from the parts; nil if a part has none.
  let checksum: Digest?
  /// The ETag in AWS form, `<md5 of the md5s>-<count>`, without quotes; nil if an MD5 is unknown.
  let etag: String?
  /// The weakest confirmation of a part.
  let weakest: Confirmation

  /// `parts` in order of `seq`.
  init(_ parts: [PartReceipt]) {
    checksum = parts.first?.digest?.algorithm == .crc64nvme ? parts.combinedDigest : nil
    let md5s = parts.compactMap(\.md5)
    etag =
      md5s.isEmpty || md5s.count != parts.count
      ? nil : hexText(RunningDigest.of(md5s.flatMap(\.bytes), .md5).bytes) + "-\(parts.count)"
    weakest = parts.weakestConfirmation
  }

  /// That of the parts that are known to be stored.
  init(of facts: TransferFacts) { self.init(facts.parts.sorted { $0.seq < $1.seq }) }

  /// The object exists, as `reply` says. A proof in the answer about the whole object counts; otherwise the weakest
  /// confirmation of a part.
  func interpretation(of reply: TransferReply, etag: String, echoed: Digest?, isVerified: Bool) -> Interpretation {
    if let whole = checksum, let echoed, whole != echoed {
      let text = "the server stored \(echoed), but we sent \(whole)"
      return .failed(Failure(.integrityMismatch, text), .permanent)
    }
    var proof = FileProof(
      confirmation: .none, digest: checksum, remoteDigest: echoed, etag: etag,
      versionID: reply.field("x-amz-version-id") ?? "", requestID: reply.serverRequestID,
      serverDate: reply.field("date") ?? "")
    if checksum != nil && echoed != nil {
      proof.confirmation = .digest
    } else if let expected = self.etag, expected == S3Tag.bare(etag).lowercased() {
      proof.confirmation = .etag
    } else {
      proof.confirmation = weakest == .none && isVerified ? .size : weakest
      // I08 of the ledger: a confirmation by digest needs the digests of both sides. The parts have both; their
      // combination is the object's.
      if proof.confirmation == .digest { proof.remoteDigest = checksum }
    }
    return .finished(proof)
  }
}
