import Glibc
import TransferModel
import Transfers
import TransfersCLI

/// A simulated year of cron: `transfers job run` every five minutes in one process, with the real command line, engine,
/// ledger and scanner; clocks, network and the crash are simulated. Writers create, grow, change, rename, delete and
/// re-create files between the runs and during them; disks, servers, credentials, clocks and receivers of callbacks
/// fail at random. A separate model states what must have arrived, and what must not have arrived yet.
///
/// The seed determines the random choices; the scheduling of threads is up to the machine.
package final class CronYear {
  package struct Plan: Sendable {
    package var runs: Int
    package var seed: UInt64
    /// How many times faster the simulated clocks run than the machine's.
    package var speed: Int64 = 400
    /// After this many runs all faults stop for a while, and everything must be in order then.
    package var runsBetweenChecks = 288
    /// The machine that is simulated, and how many share the jobs: each has a ledger of its own, and its part of the
    /// runs of the same year. The number of a machine is less than how many there are.
    package var machine = (number: 0, of: 1)
    /// Called after this many runs, with their number.
    package var runsBetweenSigns = 1_000
    package var onSign: (@Sendable (Int) -> Void)?

    package init(runs: Int, seed: UInt64) { (self.runs, self.seed) = (runs, seed) }
  }

  static let runEveryMs: Int64 = 300_000

  let plan: Plan
  let clock: YearClock
  let server: YearServer
  private let root: String
  private let program: EmbeddedProgram
  private let judges: [YearJudge]
  private var jobs: [String: EmbeddedJob] = [:]
  private let connections = StoreConnections()
  private var chance: Chance
  private let trouble: Trouble
  /// Writers and checks, used also during a run.
  private let world: Lock<World>
  private(set) var run = 0
  private var nextMs: Int64 = 0
  package private(set) var tally = YearTally()

  private struct World {
    var judges: [YearJudge]
    var chance: Chance
    var contents = 0
    /// Files that a writer touched during the run, which may be sent in any state.
    var touched: Set<String> = []
    var failure: YearFailure?
  }

  /// - Parameter folder: an empty one, in memory if possible.
  package init(_ plan: Plan, in folder: String) throws {
    self.plan = plan
    root = folder
    let clock = YearClock(speed: plan.speed)
    self.clock = clock
    let seed = plan.seed &+ UInt64(plan.machine.number) &* 1_000
    chance = Chance(seed: seed)
    server = YearServer(seed: seed, clock: clock)
    let own = YearJob.all.enumerated().filter { $0.offset % plan.machine.of == plan.machine.number }.map(\.element)
    judges = try own.map { YearJudge(try SourceTree($0, below: folder, clock: clock)) }
    world = Lock(World(judges: judges, chance: Chance(seed: seed &+ 7)))
    // A week, or an eighth of a shorter plan.
    let outage = plan.runs / 3..<plan.runs / 3 + min(7 * 288, plan.runs / 8)
    trouble = Trouble(server: server, clock: clock, tokenPath: "\(folder)/token", longOutage: outage)
    program = EmbeddedProgram(
      environment: ["HOME": folder, "TZ": "UTC"], on: Machine(clock: clock, transport: server, connections: connections)
    )
    let text =
      "destinations: {box: {url: \"http://files.test/in/\", auth: \"bearer=file:\(folder)/token\"}}\njobs:\n"
      + own.map { $0.lines(below: folder) }.joined()
    try YearFile.write(text, to: configPath)
    try YearFile.write("t0\n", to: "\(folder)/token")
    FaultyDisk.install(below: folder)
    server.onBody { [world, trouble] key in Self.writersComeBetween(key, world, trouble) }
  }

  deinit { server.stop() }

  private var configPath: String { "\(root)/config.yaml" }
  private var storePath: String { "\(root)/ledger.db" }

  /// Throws a ``YearFailure`` that names the seed and the run.
  package func work() throws {
    do {
      for number in 1...plan.runs {
        run = number
        try fiveMinutes()
        if number % plan.runsBetweenSigns == 0 { plan.onSign?(number) }
        let isLast = number == plan.runs
        if isLast || number % plan.runsBetweenChecks == 0 && !trouble.isLong { try checkInCalm() }
      }
    } catch {
      let machine = "machine \(plan.machine.number) of \(plan.machine.of)"
      throw YearFailure(
        "seed \(plan.seed), \(machine), run \(run): \(error); repeat it with TRANSFERS_SEED=\(plan.seed)")
    }
  }

  private func fiveMinutes() throws {
    passTime()
    try world.withLock { world throws(YearFailure) in try Self.writersAct(&world) }
    try trouble.change(&chance, run: run)
    let job = YearJob.all[run % YearJob.all.count]
    // Otherwise another machine has this run.
    guard let judge = judges.first(where: { $0.tree.job == job }) else { return }
    trouble.planDisk(&chance)
    _ = try runJob(judge, isCalm: false)
    FaultyDisk.plan(nil)
  }

  private func passTime() {
    nextMs = max(clock.bootMs, nextMs) + Self.runEveryMs
    clock.wait(untilBootMs: nextMs)
  }

  private static func writersAct(_ world: inout World) throws(YearFailure) {
    for judge in world.judges where world.chance.happens(260) {
      try judge.tree.act(&world.chance) {
        world.contents += 1
        return world.contents
      }
    }
  }

  /// Called on the thread of the server: a writer changes the tree of a file whose body is about to be read.
  private static func writersComeBetween(_ key: String, _ world: Lock<World>, _ trouble: Trouble) {
    world.withLock { world in
      guard trouble.isStormy, world.chance.happens(15),
        let judge = world.judges.first(where: { $0.tree.job.places.contains { key.hasPrefix($0 + "/") } })
      else { return }
      let before = judge.tree.current
      do throws(YearFailure) {
        try judge.tree.act(&world.chance) {
          world.contents += 1
          return world.contents
        }
      } catch { world.failure = error }
      let names = Set(before.keys).union(judge.tree.current.keys)
      let touched = names.filter { before[$0] !== judge.tree.current[$0] }
      world.touched.formUnion(touched.map { "\(judge.tree.job.name)/\($0)" })
    }
  }

  /// One run of a job, and the check of its results.
  private func runJob(_ judge: YearJudge, isCalm: Bool) throws -> Int32 {
    let startMs = clock.bootMs
    world.withLock { $0.touched = [] }
    let outcome = try job(judge.tree.job.name).run()
    let struck = FaultyDisk.hasStruck
    FaultyDisk.plan(nil)
    // After a crash, and otherwise at random, the next run begins like a new process, with nothing that an earlier one
    // had read.
    if struck || chance.happens(20) { connections.closeIdle() }
    tally.count(outcome.code, isStruck: struck)
    let (touched, failure) = world.withLock { ($0.touched, $0.failure) }
    if let failure { throw failure }
    let arrived = server.takeArrived()
    let result = YearRun(
      job: judge.tree.job, code: outcome.code, startMs: startMs, endMs: clock.bootMs, isStruck: struck,
      touched: touched,
      arrived: Dictionary(grouping: arrived) { String($0.key.prefix { $0 != "/" }) }, err: outcome.err)
    // An engine sends the due files of all jobs.
    for judge in judges { try judge.judge(result, server, &tally) }
    if isCalm, outcome.code != 0, outcome.code != 5 {
      throw YearFailure("\(judge.tree.job.name) ended with \(outcome.code) although nothing failed: \(outcome.err)")
    }
    return outcome.code
  }

  private func job(_ name: String) throws -> EmbeddedJob {
    if let known = jobs[name] { return known }
    let read = try program.job(name, config: configPath, store: storePath)
    jobs[name] = read
    return read
  }

  // MARK: - Calm phase

  /// Stops all faults and writers, lets the jobs run until nothing is left, and checks whether everything is in order.
  private func checkInCalm() throws {
    try trouble.end()
    try world.withLock { world throws(YearFailure) in
      for judge in world.judges { try judge.tree.grow(&world.chance, all: true) }
    }
    for _ in 0..<14 { for judge in judges { try calmRun(judge) } }
    // Callbacks that receivers refused are due again after an hour and a half at most. What was sent counts for the
    // quota of a day that may be two days ahead, because the clock was set back; what is left may take some days.
    for hours in [2, 2, 2, 72, 26, 26, 26, 26] as [Int64] {
      clock.wait(untilBootMs: clock.bootMs + hours * 3_600_000)
      for judge in judges { try calmRun(judge) }
    }
    for judge in judges {
      let withdrawn = try LedgerRows.withdrawnStarts(of: judge.tree.job.name, in: storePath)
      try judge.judgeInCalm(server, withdrawn: withdrawn)
    }
    try expectOrder()
    try expectNoGrowth()
    trouble.begin()
  }

  private func calmRun(_ judge: YearJudge) throws {
    passTime()
    _ = try runJob(judge, isCalm: true)
  }

  private func expectOrder() throws {
    let check = program.run(["store", "check", "--config", configPath, "--store", storePath])
    guard check.code == 0 else { throw YearFailure("store check: \(check.code) \(check.out)\(check.err)") }
  }

  /// Runs of a job that has nothing to do leave no rows.
  private func expectNoGrowth() throws {
    guard let judge = judges.first(where: { !$0.tree.job.tellsOfRuns }) else { return }
    let before = try LedgerRows.counts(of: storePath)
    for _ in 0..<3 { try calmRun(judge) }
    let after = try LedgerRows.counts(of: storePath)
    guard before == after else {
      let grown = after.filter { before[$0.key] != $0.value }.map { "\($0.key) \(before[$0.key] ?? 0) → \($0.value)" }
      throw YearFailure("runs with nothing to do left rows: \(grown.sorted().joined(separator: ", "))")
    }
    tally.rows = after.values.reduce(0, +)
  }
}

/// The totals of the runs of a year.
package struct YearTally: Sendable, CustomStringConvertible {
  package var runs = 0
  package var generations = 0
  package var deliveries = 0
  package var removed = 0
  package var crashes = 0
  package var rows = 0
  package var codes: [Int32: Int] = [:]

  mutating func count(_ code: Int32, isStruck: Bool) {
    runs += 1
    codes[code, default: 0] += 1
    if isStruck { crashes += 1 }
  }

  package var description: String {
    let told = codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    return "\(runs) runs, \(deliveries) bodies of \(generations) generations, \(removed) sources removed, "
      + "\(crashes) disks failed, \(rows) rows; exit codes \(told)"
  }
}
