import Glibc
import TransferModel

/// `CronYear FOLDER RUNS SEED [MACHINE MACHINES]`: a year, or RUNS runs of one, in an empty folder; of several machines
/// that share the jobs, the runs of one. Prints the totals; ends with 1 at the first failure. `tools/cron-year` starts
/// it.
@main
struct CronYearProgram {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    let numbers = words.dropFirst().compactMap { UInt64($0) }
    guard words.count == 3 || words.count == 5, numbers.count == words.count - 1, let runs = Int(exactly: numbers[0]),
      runs > 0, let machine = machine(numbers.dropFirst(2))
    else { stop("CronYear FOLDER RUNS SEED [MACHINE MACHINES]", 64) }
    let seed = numbers[1]
    do {
      var plan = CronYear.Plan(runs: runs, seed: seed)
      plan.machine = machine
      if runs > 10_000 {
        plan.runsBetweenChecks = 2_016
        let startedS = seconds(CLOCK_MONOTONIC)
        plan.onSign = { number in
          let processorS = seconds(CLOCK_PROCESS_CPUTIME_ID)
          let wallS = seconds(CLOCK_MONOTONIC) - startedS
          say("\(number) of \(runs) turns in \(wallS) s, \(processorS) s of processor time")
        }
      }
      let year = try CronYear(plan, in: words[0])
      try year.work()
      print("seed \(seed), machine \(machine.number) of \(machine.of): \(year.tally)")
    } catch {
      stop("\(error)", 1)
    }
  }

  /// The machine that the arguments name, by default 0 of 1; nil if there is no such machine.
  private static func machine(_ numbers: ArraySlice<UInt64>) -> (number: Int, of: Int)? {
    guard let number = numbers.first, let count = numbers.last else { return (0, 1) }
    guard number < count, count <= YearJob.all.count else { return nil }
    return (Int(number), Int(count))
  }

  /// What the clock shows.
  private static func seconds(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec
  }

  private static func say(_ text: String) {
    let bytes = Array("cron-year: \(text)\n".utf8)
    write(2, bytes, bytes.count)
  }

  private static func stop(_ text: String, _ code: Int32) -> Never {
    say(text)
    exit(code)
  }
}
