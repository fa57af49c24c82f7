import TransferModel
import TransferProtocols

/// How far one file follows what the run knows of collections (``KnownCollections``). A value.
struct CollectionHints: Sendable {
  /// How often it may still create only the levels that are not known to exist. After that it creates all collections
  /// from the top, and a refusal is final.
  var left = 3
  /// It may wait once for another file that creates its collection, after its own request was refused.
  var mayWait = true
  /// The level from which it creates collections because those above are known; 0 for none.
  var from = 0
}

extension PendingRequest {
  /// It waits until another file has created its collection.
  func waitsForCollection(_ work: FileWork) -> Bool {
    guard let collections = destination.collections, collections.isAnyBeingMade, needsCollections else { return false }
    return collections.advice(for: work.machine.facts.file.key, file) == .wait
  }

  /// Whether the request would be refused because the run knows that its collection is missing: the next step of the
  /// file then creates it.
  func makesCollectionsFirst(_ work: FileWork) -> Bool {
    var facts = work.machine.facts
    guard let collections = destination.collections, needsCollections, work.hints.left > 0, facts.parentsMade == nil,
      work.machine.openCount == 1, case .make(let depth) = collections.advice(for: facts.file.key, file)
    else { return false }
    facts.parentsMade = depth
    guard case .control(.makeParent) = destination.resolved.transferProtocol.nextStep(facts) else { return false }
    make(from: depth, work, collections)
    return true
  }

  /// The meaning of an answer for a file that followed a hint: the collection above the one to be created is gone, so
  /// all are created from the top.
  func withoutHint(_ meaning: Interpretation, _ reply: TransferReply?, _ work: FileWork) -> Interpretation {
    guard case .makeParent = step.step, work.hints.from > 0, let reply, reply.status == 404 || reply.status == 409,
      case .failed(let failure, _) = meaning.outcome
    else { return meaning }
    return meaning.with(.failed(failure, .repair))
  }

  /// Remembers what the answer says of the collections of the file, and decides from where they are created if one is
  /// missing. To be called when the facts of the file were changed by the answer.
  func noteCollections(_ meaning: Interpretation, _ reply: TransferReply?, _ work: FileWork, nowMs: Int64) {
    guard let collections = destination.collections else { return }
    let key = work.machine.facts.file.key
    switch (step.step, meaning.outcome) {
    case (.makeParent(let depth), .settled):
      collections.answered(reply?.status ?? 0, key, depth: depth, by: file, nowMs: nowMs)
      // A refusal of what follows is not final: the hint may have been wrong.
      if work.hints.from > 0, depth == key.bytes.count(where: { $0 == 0x2F }) {
        work.machine.facts.parentsMade = nil
        work.hints.from = 0
      }
    case (.makeParent, .failed(_, .repair)) where work.hints.from > 0: makeFromTop(work, collections)
    case (.makeParent, _): break
    case (_, .failed(_, .makeParents)): wasRefused(work, collections)
    case (_, .stored), (_, .settled), (_, .offset), (_, .finished):
      if needsCollections { collections.stored(key, nowMs: nowMs) }
    default: break
    }
  }

  private var needsCollections: Bool {
    destination.resolved.transferProtocol.parents?.needsParents(step.step) ?? false
  }

  private func wasRefused(_ work: FileWork, _ collections: KnownCollections) {
    guard work.machine.ending == nil, work.machine.facts.parentsMade == 0 else { return }
    guard work.hints.left > 0 else { return makeFromTop(work, collections) }
    switch collections.refused(work.machine.facts.file.key, file, sentMs: sentMs) {
    case .make(let depth): make(from: depth, work, collections)
    case .wait where needsCollections && work.hints.mayWait:
      work.hints.mayWait = false
      work.machine.facts.parentsMade = nil
    case .wait, .send: makeFromTop(work, collections)
    }
  }

  private func makeFromTop(_ work: FileWork, _ collections: KnownCollections) {
    collections.forget(work.machine.facts.file.key)
    make(from: 0, work, collections)
  }

  private func make(from depth: Int, _ work: FileWork, _ collections: KnownCollections) {
    if depth > 0 { work.hints.left -= 1 }
    work.hints.from = depth
    work.machine.facts.parentsMade = depth
    collections.begin(work.machine.facts.file.key, from: depth, by: file)
  }
}
