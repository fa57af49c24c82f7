import TransferLedger
import TransferModel
import TransferProtocols

/// Makes claimed files active, as far as there is capacity. Used by the engine's thread.
final class FileIntake {
  private let engine: Engine
  private let stop: RunStop
  private let claims: Claims
  private let hosts: Hosts
  private let batches: Batches
  private let room: HostRoom
  private let commits: Commits
  private let files: FilesInWork
  /// Completely fetched files whose next step is nevertheless a request.
  private var needingServer: Set<FileID> = []
  /// Under a limit of bytes, the last file that was claimed of each batch.
  private var passed: [BatchID: FileID] = [:]

  init(
    _ engine: Engine, stop: RunStop, claims: Claims, hosts: Hosts, batches: Batches, room: HostRoom, commits: Commits,
    files: FilesInWork
  ) {
    (self.engine, self.stop, self.claims, self.hosts) = (engine, stop, claims, hosts)
    (self.batches, self.room, self.commits, self.files) = (batches, room, commits, files)
  }

  /// True if there is capacity for more files.
  var mayClaim: Bool {
    engine.configuration.claimsFiles && !claims.isClaiming && freePlaces > 0
  }

  /// The capacity for files to be claimed.
  private var freePlaces: Int { min(2 * room.mostFiles, room.mostOpenFiles) - files.count }

  func claimMore() {
    guard mayClaim else { return }
    room.lookForHosts()
    let full = room.fullHosts
    guard claims.isDue(full: full) else { return }
    let without = batches.resting.union(batches.held).union(batches.batches(ofHosts: full))
    let leftOut = batches.sizesLeftOut
    claims.begin(
      limit: min(room.claimRoom, freePlaces), without: without, leftOut: leftOut,
      passed: passed.filter { leftOut[$0.key] != nil }, full: full, fetched: fetched, most: freePlaces)
  }

  /// Files that only have to be placed, of batches and hosts from which nothing else is claimed now.
  var fetched: FetchedFiles {
    FetchedFiles(of: batches.heldByServers(hosts: room.hostsWithoutRoom), except: needingServer)
  }

  func claimed(_ result: Result<[ClaimedFile], TransferError>) {
    do throws(TransferError) {
      let files = try claims.ended(result)
      if hosts.scheduler.bytesLeft != nil {
        for file in files { passed[file.batch] = max(passed[file.batch] ?? file.id, file.id) }
      }
      for file in files {
        do throws(TransferError) { try take(file) } catch { release(file, error) }
      }
    } catch {
      stop.fail(error)
    }
  }

  private func take(_ file: ClaimedFile) throws(TransferError) {
    if file.isFetched, try place(file) { return }
    if batches.blocked[file.batch] != nil { return release(file) }
    if try batches.left.contains(file.batch) { return release(file) }
    let destination = try batches.destination(of: file.batch)
    if room.hasTooMany(destination.host) { return release(file) }
    if !stop.isStopping, try !batches.quotas.admits(file) { return release(file) }
    let isLossy = hosts.gate(destination.host)?.isLossy ?? false
    let work = FileWork(file, to: destination, engine, isLossy: isLossy)
    if stop.isStopping { work.machine.end(.release(notBeforeMs: nil, nil, isFailure: false)) }
    if let openingMs = hosts.longClosed(destination.host) {
      work.machine.end(.release(notBeforeMs: openingMs, nil, isFailure: false))
    }
    if batches.isOverdue(file.batch) {
      work.machine.end(.release(notBeforeMs: nil, .policyDeadline, isFailure: false))
    }
    files.add(work)
  }

  /// Begins to place a file that no longer needs a server, regardless of the state of its host.
  /// - Returns: whether placing was begun.
  private func place(_ file: ClaimedFile) throws(TransferError) -> Bool {
    guard !stop.isStopping, !batches.isOverdue(file.batch) else { return false }
    let destination = try batches.destination(ofFetched: file.batch)
    let work = FileWork(file, to: destination, engine, isLossy: false)
    guard work.machine.isToBePlaced(destination.resolved.transferProtocol) else {
      needingServer.insert(file.id)
      return false
    }
    files.add(work)
    return true
  }

  private func release(_ file: ClaimedFile, _ error: TransferError) {
    guard error.concernsOneBatch else { return stop.fail(error) }
    _ = batches.block(file.batch, error)
    release(file)
  }

  private func release(_ file: ClaimedFile) {
    var unit = FileUnit(file: file.id, session: file.session?.id)
    unit.changes = [.release(notBeforeMs: nil, nil, isFailure: false)]
    commits.append(unit)
  }
}
