import Glibc
import TransferModel

/// The settings of a receiver. The defaults make a plain, well-behaved server on a free loopback port.
public struct ReceiverSettings: Sendable {
  /// Folder for the objects, created when it is missing (its parent must exist). Ignored if `discards` is set.
  public var directory: String
  /// File for the record, see ``ReceiverEvent``; nil keeps none.
  public var recordPath: String?
  /// Numeric IPv4 or IPv6 address.
  public var host = "127.0.0.1"
  /// 0 takes a free port.
  public var port: UInt16 = 0
  public var script = FaultScript()
  public var seed: UInt64 = 0
  /// `user:password`; with this or ``bearerToken`` set, a request needs one of the two.
  public var basicCredential: String?
  public var bearerToken: String?
  /// Longest accepted body in bytes; longer ones are answered 413.
  public var maxBody: Int64 = .max
  /// Answers 409 when a parent collection is missing, as WebDAV does, instead of creating it.
  public var strictParents = false
  /// Counts and records bodies, stores nothing, and computes checksums only if a request brings one to compare.
  public var discards = false
  /// Further connections are answered 503 and closed.
  public var maxConnections = 1024
  /// The time without any bytes, and the time for one request head, after which a connection is ended; in milliseconds.
  public var timeoutMs: Int64 = 60_000
  /// Called with one line for each request, on the thread of its connection.
  public var log: (@Sendable (String) -> Void)?

  public init(directory: String, recordPath: String? = nil) {
    self.directory = directory
    self.recordPath = recordPath
  }
}

/// What a receiver did since it was started.
public struct ReceiverSummary: Sendable, Hashable, CustomStringConvertible {
  public var connections = 0
  public var requests = 0
  public var objects = 0
  /// Body bytes received, kept or not.
  public var bytesReceived: Int64 = 0
  public var faults = 0

  public var description: String {
    "\(connections) connections, \(requests) requests, \(objects) objects, \(bytesReceived) bytes, \(faults) faults"
  }
}

/// State that all connections of one receiver share.
final class ReceiverCore: Sendable {
  let settings: ReceiverSettings
  /// nil when bodies are discarded.
  let store: ObjectStore?
  let record: ReceiverRecord
  let faults: FaultBook
  let uploads = UploadRegistry()
  private let numbers = Lock<(summary: ReceiverSummary, posted: UInt64)>((ReceiverSummary(), 0))
  let holds: HoldBook
  private let stop: Gate

  init(_ settings: ReceiverSettings) throws(TransferError) {
    self.settings = settings
    stop = try Gate()
    holds = try HoldBook(settings.script, stop: stop)
    store = settings.discards ? nil : try ObjectStore(path: settings.directory)
    record = try ReceiverRecord(path: settings.recordPath)
    faults = FaultBook(settings.script, seed: settings.seed)
  }

  var summary: ReceiverSummary { numbers.withLock { $0.summary } }

  func count(_ change: (inout ReceiverSummary) -> Void) { numbers.withLock { change(&$0.summary) } }

  /// The number of the next request, from 1.
  func nextRequest() -> Int64 {
    numbers.withLock { numbers in
      numbers.summary.requests += 1
      return Int64(numbers.summary.requests)
    }
  }

  /// The next candidate for the name of a posted object, from 1.
  func nextPosted() -> UInt64 {
    numbers.withLock { numbers in
      numbers.posted += 1
      return numbers.posted
    }
  }

  /// Ends all waits, now and later.
  func stopWaits() { stop.open() }

  /// Sleeps; false when the receiver is being stopped or another exchange wants this one to end.
  func wait(milliseconds: Int64, _ interruption: Interruption) -> Bool {
    interruption.wait(milliseconds: milliseconds, stop: stop.number)
  }
}
