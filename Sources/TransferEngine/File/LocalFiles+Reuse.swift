import TransferLedger
import TransferModel
import TransferProtocols

/// Data that a local file has already need not be fetched.
extension LocalFiles {
  /// The server still has the version that was fetched before: intact local data need not be fetched.
  func reuse(_ work: FileWork, _ proof: FileProof) {
    if let blocks = work.machine.facts.blocks { return reuse(blocks, work, proof) }
    if work.machine.facts.comparesPieces { return reusePieces(work, proof) }
    guard let target = work.target, let past = work.machine.facts.past else {
      preconditionFailure("nothing was fetched before")
    }
    let (file, holdsBytes) = (work.machine.claimed.id, work.machine.facts.holdsBytes)
    let (ledger, readStop, mailbox) = (engine.ledger, readStop, mailbox)
    pool.wait(
      {
        Result { () throws(Failure) in
          // If the list cannot be read, everything is fetched.
          let chunks = (try? ledger.read { try $0.reusableChunks(of: file, from: past.id) }) ?? []
          return try Reusing(target: target, past: past, holdsBytes: holdsBytes, chunks: chunks, stop: readStop)
            .perform()
        }
      }, then: { mailbox.put(.reused(file, proof, $0)) })
  }

  /// The server published checksums of blocks: those that an older local file has need not be fetched.
  private func reuse(_ blocks: PublishedBlocks, _ work: FileWork, _ proof: FileProof) {
    guard let target = work.target else { preconditionFailure("an upload has no target file") }
    let (file, ledger, readStop, mailbox) = (work.machine.claimed.id, engine.ledger, readStop, mailbox)
    let algorithm = work.destination.resolved.transferProtocol.sentDigest
    pool.wait(
      {
        Result { () throws(Failure) in
          // If the list cannot be read, everything is fetched.
          let chunks = (try? ledger.read { try $0.incompleteChunks(of: file) }) ?? []
          return try BlockReuse(target: target, blocks: blocks, chunks: chunks, algorithm: algorithm, stop: readStop)
            .perform()
        }
      }, then: { mailbox.put(.reused(file, proof, $0)) })
  }

  /// A manifest has digests of pieces: those that an existing file has need not be fetched.
  private func reusePieces(_ work: FileWork, _ proof: FileProof) {
    let facts = work.machine.facts
    guard let target = work.target, let pieces = facts.file.expected.pieces else {
      preconditionFailure("no pieces to compare")
    }
    let (file, ledger, readStop, mailbox) = (work.machine.claimed.id, engine.ledger, readStop, mailbox)
    let (size, holdsBytes) = (facts.layout.size, facts.holdsBytes)
    let algorithm = work.destination.resolved.transferProtocol.sentDigest
    pool.wait(
      {
        Result { () throws(Failure) in
          // If the list cannot be read, everything is fetched.
          let chunks = (try? ledger.read { try $0.incompleteChunks(of: file) }) ?? []
          return try PieceReuse(
            target: target, pieces: pieces, size: size, holdsBytes: holdsBytes, chunks: chunks, algorithm: algorithm,
            stop: readStop
          ).perform()
        }
      }, then: { mailbox.put(.reused(file, proof, $0)) })
  }
}
