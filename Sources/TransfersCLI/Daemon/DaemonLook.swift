import TransferModel
import Transfers

/// What is left in the ledger, and who is to send it: an engine of the daemon, or a run of the job whose limits bind.
struct DaemonLook: Sendable, Hashable {
  var engine = EngineDemand.Look.settled
  /// Scheduled jobs with files that only their own runs send, and that need not wait for the next time of the job.
  var jobs: Set<String> = []

  /// - Throws: errors of the store.
  init(_ reader: StoreReader, _ config: Config, _ clock: any TransferClock) throws {
    let nowMs = clock.wallMs
    guard try !reader.engine(clock).isAlive else {
      engine = .owned
      return
    }
    if try isAnythingLeft(reader, config, nowMs) { engine = .left }
    if engine == .settled, try reader.isUpkeepDue(nowMs: nowMs) { engine = .left }
  }

  /// Whether files are left for an engine; notes the jobs with files that are left to them.
  private mutating func isAnythingLeft(_ reader: StoreReader, _ config: Config, _ nowMs: Int64) throws -> Bool {
    let unfinished = try reader.unfinished(ofJob: nil)
    guard unfinished.count > 0 else { return false }
    let (rows, usedUp) = (try reader.jobs(), try reader.jobsAtQuota(nowMs: nowMs))
    let held = JobLimits.leftJobs(config, by: nil).union(usedUp)
    guard !held.isEmpty else { return try Self.isLeft(RowFilter(), reader, nowMs) }
    let batches = try Dictionary(grouping: unfinished.files.batches) { try reader.job(of: $0) ?? "" }
    for job in held {
      guard !usedUp.contains(job), let section = config.jobs[job], (try? JobSchedule(section)) != nil else { continue }
      let isAtItsEnd = rows.contains { $0.job == job && $0.result == ExitCode.workLeft.name }
      if isAtItsEnd, JobLimits(section, config).hasEnd { continue }
      if try Self.isLeft(Self.filter(batches[job] ?? []), reader, nowMs) { jobs.insert(job) }
    }
    let others = batches.filter { !held.contains($0.key) }.values.joined()
    return try Self.isLeft(Self.filter(Array(others)), reader, nowMs)
  }

  private static func filter(_ batches: [BatchID]) -> RowFilter {
    var filter = RowFilter()
    filter.withinBatches = batches.map(\.rawValue).sorted()
    return filter
  }

  /// Whether files continue without a person.
  private static func isLeft(_ filter: RowFilter, _ reader: StoreReader, _ nowMs: Int64) throws -> Bool {
    try !AwaitedFiles(filter, reader).state(reader, nowMs: nowMs).isSettled
  }

  /// Whether anything is left at all, also for the next run of a job or the next day of a quota.
  /// - Throws: errors of the store.
  static func isWorkLeft(_ reader: StoreReader, nowMs: Int64) throws -> Bool {
    if try reader.unfinished(ofJob: nil).count > 0, try isLeft(RowFilter(), reader, nowMs) { return true }
    return try reader.isUpkeepDue(nowMs: nowMs)
  }
}

/// Decides when to run a job again whose files only its own runs send. A value on the boot clock, in milliseconds.
struct JobDemands: Sendable {
  private var demands: [String: EngineDemand] = [:]

  /// The jobs to start now, of those that have files left.
  mutating func due(_ left: Set<String>, running: Set<String>, nowMs: Int64) -> [String] {
    demands = demands.filter { left.contains($0.key) || running.contains($0.key) }
    var due: [String] = []
    for job in left.subtracting(running).sorted() {
      var demand = demands[job] ?? EngineDemand()
      if demand.isNeeded(.left, jobsRun: false, nowMs: nowMs) { due.append(job) }
      demands[job] = demand
    }
    return due
  }

  /// A run of the job has ended.
  mutating func ended(_ job: String, nowMs: Int64) { demands[job, default: EngineDemand()].ended(nowMs: nowMs) }
}
