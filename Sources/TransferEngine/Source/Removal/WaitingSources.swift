public import TransferLedger
import TransferModel

/// Sources whose removal was put off until a destination has them. Their removals end when they are gone.
public struct WaitingSources {
  private static let atOnce = 1_000

  private let reader: LedgerReader
  /// The places of the sources of each batch; nil for one that keeps its sources.
  private var places: [BatchID: SourcePlaces?] = [:]

  public init(_ reader: LedgerReader) { self.reader = reader }

  /// Whether a source of the job is gone, so that an engine can end its removal. Examines each source once. Blocking.
  public mutating func isAnyGone(ofJob job: String) throws -> Bool {
    var last: FileID?
    while true {
      let page = try reader.sourcesAwaitingDestination(ofJob: job, after: last, limit: Self.atOnce)
      for one in page where try isGone(one) { return true }
      guard let final = page.last else { return false }
      last = final.file
    }
  }

  private mutating func isGone(_ source: AwaitingSource) throws -> Bool {
    guard let places = try places(of: source.batch), let relative = places.relative(source.path) else { return false }
    if places.open.count > SourcePlaces.openAtMost { places.release() }
    guard places.isGone(relative) else { return false }
    // On a file system that is not mounted, nothing is known to be gone.
    var failure: (any Error)?
    let isMounted = try places.isMounted(relative) { [reader] path in
      do { return try reader.sourceFolder(path, of: source.batch) } catch {
        failure = error
        return nil
      }
    }
    if let failure { throw failure }
    return isMounted
  }

  private mutating func places(of batch: BatchID) throws -> SourcePlaces? {
    if let known = places[batch] { return known }
    let found = try reader.batchSettings(batch)?.after.map { SourcePlaces($0) }
    places[batch] = .some(found)
    return found
  }
}
