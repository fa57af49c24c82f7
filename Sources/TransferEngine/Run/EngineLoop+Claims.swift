import TransferLedger
import TransferModel
import TransferProtocols

extension EngineLoop {
  /// Keeps enough begun requests ahead of the connections: files in work first, then new ones.
  func beginMore() {
    room.countHosts()
    wakeWaiting()
    startSessions()
    feedHungry()
    claimMore()
  }

  /// There is room for more files.
  var mayClaim: Bool {
    engine.configuration.claimsFiles && !claims.isClaiming && works.count < 2 * room.mostFiles
  }

  private func claimMore() {
    guard mayClaim else { return }
    room.lookForHosts()
    let full = room.fullHosts
    guard claims.isDue(full: full) else { return }
    let without = batches.resting.union(batches.held).union(batches.batches(ofHosts: full))
    claims.begin(limit: room.claimRoom, without: without, full: full)
  }

  func claimed(_ result: Result<[ClaimedFile], TransferError>) {
    do throws(TransferError) {
      for file in try claims.ended(result) {
        do throws(TransferError) { try take(file) } catch { giveBack(file, error) }
      }
    } catch {
      fail(error)
    }
  }

  private func take(_ file: ClaimedFile) throws(TransferError) {
    let destination = try batches.destination(of: file.batch)
    if room.hasTooMany(destination.host) { return giveBack(file) }
    let proto = destination.resolved.transferProtocol
    let location = proto.location(ofKey: file.key)
    var machine: FileMachine
    if let layout = file.layout {
      machine = FileMachine(claimed: file, layout: layout, location: location, abilities: proto.abilities)
    } else {
      let isLossy = hosts.gate(destination.host)?.isLossy ?? false
      let planned = Self.layout(of: file, proto, isLossy: isLossy)
      machine = FileMachine(
        claimed: file, layout: planned.layout, location: location, abilities: proto.abilities)
      if let failure = planned.failure { machine.end(.fail(failure, keepsSession: false)) }
    }
    if file.isDoubtful && !proto.abilities.unrepeatable.isEmpty { machine.end(.unknown(Self.copied)) }
    if isStopping { machine.end(.requeue(notBeforeMs: nil, nil, isFailure: false)) }
    if let openingMs = hosts.longClosed(destination.host) {
      machine.end(.requeue(notBeforeMs: openingMs, nil, isFailure: false))
    }
    if batches.isOverdue(file.batch) { machine.end(.requeue(notBeforeMs: nil, .policyDeadline, isFailure: false)) }
    destination.files += 1
    works[file.id] = FileWork(
      machine: machine, version: version(of: file), target: target(of: file, destination), destination: destination,
      chunks: engine.configuration.chunksPerFile)
    if machine.needsSession && machine.ending == nil {
      sessionSlots.request(file.id)
    } else {
      advance(file.id)
    }
  }

  private func version(of file: ClaimedFile) -> SourceVersion {
    let (ledger, id) = (engine.ledger, file.id)
    return SourceVersion(file.identity) { () throws(TransferError) in
      try ledger.read { reader in try reader.sentContent(of: id) }
    }
  }

  private func target(of file: ClaimedFile, _ destination: BatchDestination) -> Target? {
    guard file.direction == .download, let settings = destination.refusals.settings.download else { return nil }
    return Target(
      TargetNames(file.path, below: settings.folder, file.uid), known: file.identity, overwrites: settings.overwrites)
  }

  private static let copied = Failure(
    .engineCopied,
    "this ledger is a copy or was restored from one: the original may have sent the file since, and the server cannot be asked; check there, then \"transfers resolve\""
  )

  /// Nothing can be sent for this batch in this run: no credentials, or settings that cannot work. Its files wait for
  /// the next run; the others go on, and the run ends with the error.
  func block(_ batch: BatchID, _ error: TransferError) {
    guard batches.block(batch, error) else { return }
    let files = works.filter { $0.value.machine.claimed.batch == batch }.keys
    for file in files { letGo(file, notBeforeMs: nil) }
  }

  private func giveBack(_ file: ClaimedFile, _ error: TransferError) {
    guard error.concernsOneBatch else { return fail(error) }
    _ = batches.block(file.batch, error)
    giveBack(file)
  }

  private func giveBack(_ file: ClaimedFile) {
    var unit = FileUnit(file: file.id, session: file.session?.id)
    unit.changes = [.requeue(notBeforeMs: nil, nil, isFailure: false)]
    commits.append(unit)
  }

  /// The file leaves the engine without prejudice as soon as nothing of it is under way.
  func letGo(_ file: FileID, notBeforeMs: Int64?, _ code: ErrorCode? = nil) {
    guard let work = works[file] else { return }
    work.machine.end(.requeue(notBeforeMs: notBeforeMs, code, isFailure: false))
    _ = hosts.takeReady(where: work.jobs.contains)
    for id in work.jobs where jobs[id]?.phase == .ready { interrupt(id, nil) }
    advance(file)
  }

  private static func layout(
    of file: ClaimedFile, _ proto: ProtocolInUse, isLossy: Bool
  ) -> (layout: ChunkLayout, failure: Failure?) {
    if let refusal = proto.refusal(ofKey: file.key) { return (ChunkLayout(whole: file.identity.size), refusal) }
    do throws(TransferError) {
      let size = file.identity.size
      return (try isLossy ? proto.layoutOfShortChunks(size: size) : proto.layout(size: size), nil)
    } catch {
      return (ChunkLayout(whole: file.identity.size), Failure(.policyLimit, error.cause))
    }
  }

  /// Lets files begin their upload session while fewer than the configured number have one.
  private func startSessions() {
    let perHost = room.sessionsPerHost
    while let file = sessionSlots.next(mostPerHost: perHost, hosts: hosts.all.count, place: sessionPlace) {
      advance(file)
    }
  }

  private func sessionPlace(_ file: FileID) -> SessionSlots.Place? {
    works[file].map { work in
      SessionSlots.Place(
        host: work.destination.host.name, batch: work.destination.batch, share: work.destination.share)
    }
  }

  /// Gives files with unsent chunks their share, in turn.
  private func feedHungry() {
    for _ in 0..<turns.count {
      guard let file = turns.popFirst() else { return }
      advance(file)
    }
  }

  /// Files whose backoff is over are hungry again; those that only wait, and long, leave until they are due.
  private func wakeWaiting() {
    let now = wallMs
    for id in waiting {
      guard let work = works[id] else { continue }
      if work.machine.waitingUntil.contains(where: { $0 <= now }) {
        turns.append(id)
      } else if work.machine.openCount == 0, let due = work.machine.waitingUntil.min(), due > now + 2_000,
        work.machine.unsentCount == work.machine.waitingUntil.count || work.machine.isFailingWidely
      {
        work.machine.end(.requeue(notBeforeMs: due, nil, isFailure: false))
        advance(id)
      }
    }
  }
}
