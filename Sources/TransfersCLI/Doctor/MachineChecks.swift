import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Clock, limits, proxies, terminal and credentials of this process.
enum MachineChecks {
  static func all(_ facts: MachineFacts, _ context: Context) -> [DoctorFinding] {
    [clock(context.clock.wallMs, newestMs: nil), descriptors(), fileSize()] + proxies(context) + [
      terminal(context), credentials(facts),
    ]
  }

  /// 2025-01-01 and 2100-01-01: a clock outside of that makes signatures and certificates fail.
  private static let saneMs: ClosedRange<Int64> = 1_735_689_600_000...4_102_444_800_000

  /// `newestMs` is the time of the newest row, by the clock at that time.
  static func clock(_ nowMs: Int64, newestMs: Int64?) -> DoctorFinding {
    if let newestMs {
      let behind = newestMs - nowMs
      return behind > 2_000
        ? .warn(
          "clock.order", "the clock is \(Quantity.duration(behind)) behind the newest row of the ledger",
          "set the clock: times in reports overlap, retries wait longer")
        : .ok("clock.order", "not behind the newest row of the ledger")
    }
    let now = Timestamp.rfc3339(nowMs)
    guard saneMs.contains(nowMs) else {
      return .fail("clock.time", now, "set the clock: signatures and certificates fail with it")
    }
    return MachineFacts.isClockSynchronized == false
      ? .warn(
        "clock.time", "\(now), clock not synchronized", "chrony or systemd-timesyncd; S3 allows 15 minutes of error")
      : .ok("clock.time", now)
  }

  /// 256 connections, files being read, the ledger and its sidecars. A run raises the limit as far as it may.
  private static func descriptors() -> DoctorFinding {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let most = min(limit.rlim_max, 65_536)
    let text = "\(most) open files"
    if most < 64 { return .fail("limits.files", text, "ulimit -n 1024, or fewer --workers") }
    return most < 640
      ? .warn("limits.files", text, "ulimit -n 1024 for more than \(max(1, (most - 32) / 2)) --workers")
      : .ok("limits.files", text)
  }

  private static func fileSize() -> DoctorFinding {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    guard limit.rlim_cur < UInt64(Int64.max) else { return .ok("limits.size", "files of any size") }
    return .warn(
      "limits.size", "files, including the ledger, are limited to \(Quantity.bytes(Int64(limit.rlim_cur)))",
      "ulimit -f unlimited; the run ends when the ledger reaches the limit")
  }

  /// Proxies that libcurl reads. It ignores HTTP_PROXY in upper case, which a web server may set from a request.
  private static func proxies(_ context: Context) -> [DoctorFinding] {
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let set = names.compactMap { name in context.variable(name).map { "\(name)=\(ProxyText.masked($0))" } }
    let bypass = ["no_proxy", "NO_PROXY"].compactMap { name in context.variable(name).map { "\(name)=\(printable($0))" }
    }
    var findings = [
      DoctorFinding.ok("proxy", set.isEmpty ? "none" : (set + bypass).joined(separator: ", "))
    ]
    if context.variable("HTTP_PROXY") != nil, context.variable("http_proxy") == nil {
      findings = [
        .warn("proxy", "HTTP_PROXY is set but ignored: only http_proxy is read", "export http_proxy in lower case")
      ]
    }
    return findings
  }

  private static func terminal(_ context: Context) -> DoctorFinding {
    let locale = printable(Locale.name(context.environment))
    let text = "TERM=\(printable(context.variable("TERM") ?? "")) locale \(locale)"
    return Locale.isUTF8(context.environment)
      ? .ok("terminal", text) : .warn("terminal", "\(text) is not UTF-8", "export LC_ALL=C.UTF-8 for names and bars")
  }

  private static func credentials(_ facts: MachineFacts) -> DoctorFinding {
    if let problem = facts.awsProblem {
      return .warn("credentials.aws", printable(problem), "S3 destinations need both parts of a key")
    }
    guard let place = facts.awsCredentials else {
      return .ok("credentials.aws", "none; only S3 destinations need them")
    }
    return .ok("credentials.aws", "from \(printable(place))")
  }
}

/// Proxies as they may be shown.
enum ProxyText {
  /// Without user and password: `http://***@proxy:3128`.
  static func masked(_ url: String) -> String {
    guard let at = url.lastIndex(of: "@") else { return printable(url) }
    let scheme = url.firstRange(of: "://").map { String(url[..<$0.upperBound]) } ?? ""
    return printable("\(scheme)***\(url[at...])")
  }
}
