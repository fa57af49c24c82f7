import Glibc
import TransferModel

/// `CronYear FOLDER RUNS SEED`: a year, or RUNS runs of one, in an empty folder. Prints the totals; ends with 1 at the
/// first failure. `tools/cron-year` starts it.
@main
struct CronYearProgram {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count == 3, let runs = Int(words[1]), runs > 0, let seed = UInt64(words[2]) else {
      stop("CronYear FOLDER RUNS SEED", 64)
    }
    do {
      var plan = CronYear.Plan(runs: runs, seed: seed)
      if runs > 10_000 {
        plan.runsBetweenChecks = 2_016
        let startedS = seconds(CLOCK_MONOTONIC)
        plan.onSign = { number in
          let processorS = seconds(CLOCK_PROCESS_CPUTIME_ID)
          let wallS = seconds(CLOCK_MONOTONIC) - startedS
          say("\(number) of \(runs) runs in \(wallS) s, \(processorS) s of processor time")
        }
      }
      let year = try CronYear(plan, in: words[0])
      try year.work()
      print("seed \(seed): \(year.tally)")
    } catch {
      stop("\(error)", 1)
    }
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
