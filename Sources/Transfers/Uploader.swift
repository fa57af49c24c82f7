public import TransferModel

public struct UploadOptions: Sendable {
  public var storePath: String
  public var settings: BatchSettings
  public var name: String?
  public var labels: [String: String]
  public var priority: Int
  public var workers: Int?
  public var rate: Int64?
  public var rules: [PathRule]
  public var followSymlinks: Bool

  public init(
    storePath: String, settings: BatchSettings, name: String? = nil, labels: [String: String] = [:],
    priority: Int = 0, workers: Int? = nil, rate: Int64? = nil, rules: [PathRule] = [], followSymlinks: Bool = false
  ) {
    self.storePath = storePath
    self.settings = settings
    self.name = name
    self.labels = labels
    self.priority = priority
    self.workers = workers
    self.rate = rate
    self.rules = rules
    self.followSymlinks = followSymlinks
  }
}

public struct PathRule: Sendable, Hashable {
  public enum Kind: Sendable, Hashable { case include, exclude }
  public var kind: Kind
  public var pattern: String
  public init(kind: Kind, pattern: String) {
    self.kind = kind
    self.pattern = pattern
  }
}

public enum Notice: Sendable {
  case skipped(path: NameBytes, reason: String)
  case failed(path: NameBytes, Failure)
  case retrying(path: NameBytes, Failure, inMs: Int64)
  case planned(path: NameBytes, key: NameBytes, size: Int64, verdict: String)
  case info(String)
}

public struct AddResult: Sendable {
  public var batch: BatchID?
  public var added, unchanged, queued, unknown, failed: Int
  public var bytes: Int64
}

public struct PlanResult: Sendable {
  public var new, unchanged, changed, excluded, chunks, requests: Int
  public var bytes: Int64
}

public enum StopCause: String, Sendable { case drained, interrupted, deadline }

public struct RunResult: Sendable {
  public var done, failed, unknown, mismatched, left: Int
  public var bytesAcked, bytesSent: Int64
  public var retries: Int
  public var wallMs: Int64
  public var stoppedBy: StopCause?
}

public struct ProgressSnapshot: Sendable {
  public var filesTotal, filesDone, filesFailed, active: Int
  public var bytesTotal, bytesAcked, bytesInFlight: Int64
  public var retrying: Int
  public var elapsedMs: Int64

  public init(
    filesTotal: Int, filesDone: Int, filesFailed: Int, active: Int, bytesTotal: Int64, bytesAcked: Int64,
    bytesInFlight: Int64, retrying: Int, elapsedMs: Int64
  ) {
    self.filesTotal = filesTotal
    self.filesDone = filesDone
    self.filesFailed = filesFailed
    self.active = active
    self.bytesTotal = bytesTotal
    self.bytesAcked = bytesAcked
    self.bytesInFlight = bytesInFlight
    self.retrying = retrying
    self.elapsedMs = elapsedMs
  }
}

public struct RunOptions: Sendable {
  public var storePath: String
  public var workers: Int?
  public var rate: Int64?
  public var argv: [String]
  public var batch: BatchID?
  public init(storePath: String, workers: Int? = nil, rate: Int64? = nil, argv: [String], batch: BatchID? = nil) {
    self.storePath = storePath
    self.workers = workers
    self.rate = rate
    self.argv = argv
    self.batch = batch
  }
}

public final class StopSignal: Sendable {
  public init() {}
  public func drain() {}
  public func stopNow() {}
}

public enum Transfers {
  public static func add(
    _ sources: [NameBytes], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> AddResult { throw TransferError(.bug, "add", cause: "the engine is not linked") }

  public static func plan(
    _ sources: [NameBytes], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult { throw TransferError(.bug, "plan", cause: "the engine is not linked") }

  public static func run(
    _ options: RunOptions, progress: @escaping @Sendable (ProgressSnapshot) -> Void,
    notice: @escaping @Sendable (Notice) -> Void, stop: StopSignal
  ) throws(TransferError) -> RunResult { throw TransferError(.bug, "run", cause: "the engine is not linked") }

  public static let version = "0.1.0"
}
