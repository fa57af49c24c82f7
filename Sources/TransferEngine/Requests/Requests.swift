import TransferLedger
import TransferModel
import TransferProtocols

/// The requests that were begun in the ledger and have not ended there. Used by the engine's thread.
final class Requests {
  private let batches: Batches
  private let files: FilesInWork
  private let numbers: RequestNumbers
  private(set) var all: [PendingRequest.ID: PendingRequest] = [:]

  init(_ numbers: RequestNumbers, batches: Batches, files: FilesInWork) {
    (self.numbers, self.batches, self.files) = (numbers, batches, files)
  }

  subscript(id: PendingRequest.ID) -> PendingRequest? { all[id] }
  var isEmpty: Bool { all.isEmpty }

  /// None is running or being prepared: all wait for a connection.
  var areAllReady: Bool { all.values.allSatisfy { $0.phase == .ready } }

  /// A request of the file is durable.
  func begin(_ step: BegunRequest, of work: FileWork, range: ByteRange?, beside: PendingRequest.ID?) -> PendingRequest {
    let id = numbers.next()
    let pending = PendingRequest(
      id, file: work.machine.claimed.id, step: step, range: range, destination: work.destination,
      place: place(of: step, work))
    pending.beside = beside
    all[id] = pending
    work.requests.insert(id)
    return pending
  }

  /// The place of the request, for a file with mirrors.
  private func place(of step: BegunRequest, _ work: FileWork) -> Int {
    let facts = work.machine.facts
    guard !facts.file.expected.mirrors.isEmpty, let places = work.destination.resolved.transferProtocol.places else {
      return 0
    }
    let open = work.requests.compactMap { all[$0] }.filter { $0.step.step.chunk != nil }.map { ($0.place, 1) }
    var asked = facts
    asked.learned = work.destination.learned
    return places.place(for: step.step, asked, open: Dictionary(open, uniquingKeysWith: +))
  }

  /// Removes an ended request, whose attempt ends with the next unit of the file; nil if it is not known.
  func end(_ id: PendingRequest.ID) -> (pending: PendingRequest, work: FileWork)? {
    guard let pending = all.removeValue(forKey: id), let work = files[pending.file] else { return nil }
    work.requests.remove(id)
    work.destination.requests -= 1
    return (pending, work)
  }

  /// Running requests of a batch.
  func sendingCount(of destination: BatchDestination) -> Int {
    all.values.count { $0.phase == .sending && $0.destination === destination }
  }

  /// Sent body bytes of running requests.
  func bytesInFlight() -> [PendingRequest.ID: Int64] {
    var counters: [PendingRequest.ID: Int64] = [:]
    for transport in batches.transports {
      for (id, bytes) in transport.bytesInFlight() { counters[id.rawValue] = bytes }
    }
    return counters
  }

  /// The same, by host.
  func bytesInFlightByHost() -> [String: Int64] {
    var sums: [String: Int64] = [:]
    for (id, bytes) in bytesInFlight() {
      if let pending = all[id], pending.range != nil { sums[pending.host, default: 0] += bytes }
    }
    return sums
  }
}
