import TransferLedger
import TransferModel
import TransferProtocols

/// Data that a local file has already need not be fetched: a preparing thread copies it into the partial file. Used by
/// the engine's thread.
struct LocalReuse {
  let engine: Engine
  let mailbox: Mailbox<EngineEvent>
  let pool: PreparingPool
  /// Ends reads of local files.
  let readStop: ReadStop

  func begin(_ work: FileWork, _ proof: FileProof) {
    let file = work.machine.claimed.id
    let copying = copying(work)
    pool.wait(
      { Result<Reused, Failure>(catching: copying) }, then: { [mailbox] in mailbox.put(.reused(file, proof, $0)) })
  }

  private typealias Copying = @Sendable () throws(Failure) -> Reused

  private func copying(_ work: FileWork) -> Copying {
    if let blocks = work.machine.facts.blocks { return copying(blocks, work) }
    return work.machine.facts.comparesPieces ? copyingPieces(work) : copyingChunks(work)
  }

  /// The server still has the version that was fetched before: intact local data need not be fetched.
  private func copyingChunks(_ work: FileWork) -> Copying {
    guard let target = work.target, let past = work.machine.facts.past else {
      preconditionFailure("nothing was fetched before")
    }
    let (file, holdsBytes) = (work.machine.claimed.id, work.machine.facts.holdsBytes)
    return { [ledger = engine.ledger, readStop] () throws(Failure) in
      // If the list cannot be read, everything is fetched.
      let chunks = (try? ledger.read { try $0.reusableChunks(of: file, from: past.id) }) ?? []
      return try Reusing(target: target, past: past, holdsBytes: holdsBytes, chunks: chunks, stop: readStop)
        .perform()
    }
  }

  /// The server published checksums of blocks: those that an older local file has need not be fetched.
  private func copying(_ blocks: PublishedBlocks, _ work: FileWork) -> Copying {
    guard let target = work.target else { preconditionFailure("an upload has no target file") }
    let (file, algorithm) = (work.machine.claimed.id, work.destination.resolved.transferProtocol.sentDigest)
    return { [ledger = engine.ledger, readStop] () throws(Failure) in
      // If the list cannot be read, everything is fetched.
      let chunks = (try? ledger.read { try $0.incompleteChunks(of: file) }) ?? []
      return try BlockReuse(target: target, blocks: blocks, chunks: chunks, algorithm: algorithm, stop: readStop)
        .perform()
    }
  }

  /// A manifest has digests of pieces: those that an existing file has need not be fetched.
  private func copyingPieces(_ work: FileWork) -> Copying {
    let facts = work.machine.facts
    guard let target = work.target, let pieces = facts.file.expected.pieces else {
      preconditionFailure("no pieces to compare")
    }
    let (file, algorithm) = (work.machine.claimed.id, work.destination.resolved.transferProtocol.sentDigest)
    let (size, holdsBytes) = (facts.layout.size, facts.holdsBytes)
    return { [ledger = engine.ledger, readStop] () throws(Failure) in
      // If the list cannot be read, everything is fetched.
      let chunks = (try? ledger.read { try $0.incompleteChunks(of: file) }) ?? []
      return try PieceReuse(
        target: target, pieces: pieces, size: size, holdsBytes: holdsBytes, chunks: chunks, algorithm: algorithm,
        stop: readStop
      ).perform()
    }
  }
}
