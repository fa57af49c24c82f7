import TransferLedger
import TransferModel
import TransferProtocols

/// What is done with the local file of a download.
extension EngineLoop {
  /// Opens or makes the partial file, on a preparing thread.
  func prepareTarget(
    _ id: JobID, _ job: Job, _ work: FileWork, _ target: Target, _ range: ByteRange, _ receiving: any BodiesInAnswers
  ) {
    guard let chunk = job.step.step.chunk else { preconditionFailure("a range without a chunk") }
    let facts = work.machine.facts
    let order = TargetOrder(
      target: target, holdsBytes: facts.acked > 0, size: facts.layout.size, range: range, head: chunk.head,
      algorithm: job.destination.resolved.transferProtocol.sentDigest,
      content: { status, fields in receiving.content(status: status, fields, of: chunk, facts) },
      credentials: job.destination.resolved.credentials, stop: readStop)
    let mailbox = mailbox
    pool.wait({ order.perform() }, then: { mailbox.put(.prepared(id, $0)) })
  }

  /// The ledger knows which file takes the bytes before it hears that any are stored.
  func notePartial(_ file: TargetFile, _ work: FileWork) {
    guard work.recorded.inode == 0 || !file.identity.isSameFile(as: work.recorded) else { return }
    work.recorded = file.identity
    files.advance(work.machine.claimed.id, changes: [.notePartialFile(file.identity)])
  }

  /// Every byte is stored and recorded: the file gets its name, and is done then.
  func place(_ work: FileWork, _ proof: FileProof) {
    guard let target = work.target else { preconditionFailure("an upload has no place") }
    let file = work.machine.claimed.id
    let facts = work.machine.facts
    let receiving = work.destination.resolved.transferProtocol.bodiesInAnswers
    let placing = target.placing(
      size: facts.layout.size, digest: proof.digest, modifiedMs: receiving?.modificationTimeMs(facts))
    let mailbox = mailbox
    pool.wait(
      { Result { () throws(Failure) in try placing.perform() } }, then: { mailbox.put(.placed(file, proof, $0)) })
  }
}
