import TransferLedger
import TransferModel

/// How long the run waits while nothing can be done. A run for certain batches still sends files of others, but does
/// not wait for them: when its own files have ended, it leaves files of others that are in backoff, or whose host
/// accepts no requests, to the next run. Batches that were added since it began count as its own, because the commands
/// that added them relied on this run. Used by the engine's thread.
final class RunPatience {
  /// Minimum interval between two looks into the ledger, in milliseconds.
  private static let everyMs: Int64 = 100

  private let engine: Engine
  private let batches: Batches
  private let files: FilesInWork
  private let claims: Claims
  private let commits: Commits
  private var nextMs: Int64 = 0
  /// The newest batch when the run began; later ones are awaited.
  private var newest = BatchID(rawValue: 0)
  /// The files of the awaited batches have ended.
  private var haveEnded = false

  init(_ engine: Engine, batches: Batches, files: FilesInWork, claims: Claims, commits: Commits) {
    (self.engine, self.batches, self.files, self.claims, self.commits) = (engine, batches, files, claims, commits)
  }

  /// In milliseconds.
  var ms: Int64 { haveEnded ? 0 : engine.configuration.patienceMs }

  /// For sessions to be aborted, of whichever batch: an upload of the run itself must not stay on its server.
  var abortMs: Int64 { engine.configuration.patienceMs }

  /// After how many openings of its circuit breaker in a row a host counts as unreachable.
  var opensBeforeGivingUp: Int { haveEnded ? 1 : engine.configuration.breakerOpensBeforeGivingUp }

  /// Notes which batches exist already, when the run begins.
  func begin() throws(TransferError) {
    guard engine.configuration.awaited != nil else { return }
    newest = try engine.ledger.read { try $0.lastBatch() } ?? newest
  }

  /// Looks whether the files of the awaited batches have ended, and, if so, whether others were added.
  func look() throws(TransferError) {
    guard let chosen = engine.configuration.awaited, haveEnded || engine.bootMs >= nextMs else { return }
    guard commits.isIdle, !claims.isClaiming else { return }
    nextMs = engine.bootMs + Self.everyMs
    let newest = newest
    let added = try engine.ledger.read { try $0.batches(above: newest) }
    if haveEnded && added.isEmpty { return }
    // Such a batch may get files after it was seen without any.
    haveEnded = false
    let awaited = chosen.union(added)
    guard !files.all.contains(where: { awaited.contains($0.value.destination.batch) }) else { return }
    // Files of batches that rest in this run do not end in it.
    let awaiting = awaited.subtracting(batches.resting)
    let countsSettling = engine.configuration.waitsForSettling
    haveEnded = try !engine.ledger.read { reader in
      try reader.isAnythingLeft(in: awaiting, countsSettling: countsSettling)
    }
  }
}
