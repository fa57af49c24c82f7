import Transfers
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Checks of the ledger: its location, permissions, integrity and engine.
struct LedgerChecks {
  private let condition: StoreCondition
  private let context: Context

  init(_ path: String, _ context: Context) {
    condition = TransferStore(at: path).condition
    self.context = context
  }

  func all() -> [DoctorFinding] {
    var findings = [place()]
    findings += [fileSystem(), disk()].compactMap(\.self)
    guard condition.exists else { return findings }
    findings += [permissions(), log(), gate()]
    return findings + content()
  }

  private func place() -> DoctorFinding {
    let path = "\(NameBytes(condition.path))"
    if condition.exists { return .ok("ledger.place", path) }
    if condition.folderExists, !condition.folderIsWritable {
      return .fail(
        "ledger.place", "\(path): does not exist, and its folder is not writable",
        "choose another location with --store")
    }
    return .ok("ledger.place", "\(path): does not exist yet; the first push creates it")
  }

  private func fileSystem() -> DoctorFinding? {
    guard condition.folderExists else { return nil }
    guard let name = condition.unsafeFileSystem else { return .ok("ledger.filesystem", "local: file locking works") }
    return .fail(
      "ledger.filesystem", "\(name): file locking is not safe for a ledger",
      "put the ledger on a local disk with --store"
    )
  }

  private func disk() -> DoctorFinding? {
    guard condition.folderExists else { return nil }
    guard let free = condition.freeBytes else { return .warn("disk.free", "free space is unknown", "df shows it") }
    let text = "\(Quantity.bytes(free)) free on the ledger's file system"
    if free < 64 << 20 { return .fail("disk.free", text, "free some space: a run stops when the ledger cannot grow") }
    return free < 1 << 30 ? .warn("disk.free", text, "a million files take about 1 GiB") : .ok("disk.free", text)
  }

  private func permissions() -> DoctorFinding {
    let mode = condition.mode ?? 0
    let text = "mode \(Octal.text(mode))" + (condition.isOwn ? "" : ", owned by another user")
    if mode & 0o022 != 0 {
      return .fail("ledger.mode", "\(text): other users may write to it", "chmod 600 \(NameBytes(condition.path))")
    }
    if mode & 0o177 != 0 {
      return .warn(
        "ledger.mode", "\(text): other users may read names and results", "chmod 600 \(NameBytes(condition.path))")
    }
    if condition.folderMode.map({ $0 & 0o022 != 0 && $0 & 0o1000 == 0 }) ?? false {
      return .warn("ledger.mode", "\(text), but other users may rename files in its folder", "chmod go-w on the folder")
    }
    return condition.isOwn ? .ok("ledger.mode", text) : .warn("ledger.mode", text, "run as its owner")
  }

  private func log() -> DoctorFinding {
    let log = LogStatus(condition)
    guard log.bytes > LogStatus.longest else {
      return .ok("ledger.log", "write-ahead log \(Quantity.bytes(condition.walBytes))")
    }
    return .warn(
      "ledger.log", log.text,
      log.heldBy.isEmpty ? "\"transfers run\" empties it" : "wait until that process ends; the next commit empties it")
  }

  private func gate() -> DoctorFinding {
    Self.gate(of: condition.path, TransferStore(at: condition.path).gateHolder())
  }

  static func gate(of path: String, _ holder: StoreCondition.GateHolder?) -> DoctorFinding {
    guard let holder else { return .ok("ledger.gate", "no process keeps writers waiting") }
    let text = "\(holder.words) keeps all writers waiting (\(NameBytes(path)).gate)"
    if holder.isStopped { return .fail("ledger.gate", text, "let that process continue, or end it") }
    return .warn(
      "ledger.gate", "\(text): it empties the log or upgrades the ledger", "wait until that process has finished")
  }

  /// Checks that need to read it.
  private func content() -> [DoctorFinding] {
    do throws(CommandFailure) {
      let ledger = try LedgerAccess.open(condition.path, context)
      defer { ledger.close() }
      let (facts, problems, state, newest) = try LedgerAccess.read(ledger) { reader in
        (
          try reader.storeFacts(), try reader.quickProblems(limit: 5), try reader.engine(context.clock),
          try reader.newestMs()
        )
      }
      let whole =
        problems.isEmpty
        ? DoctorFinding.ok("ledger.integrity", "well formed, schema \(facts.schemaVersion)")
        : .fail(
          "ledger.integrity", problems.map(printable).joined(separator: "; "),
          "keep a copy of the file and its -wal; \"transfers store check\" shows details")
      return [whole, engine(EngineStatus(state))]
        + (newest.map { [MachineChecks.clock(context.clock.wallMs, newestMs: $0)] } ?? [])
    } catch {
      return [.fail("ledger.open", error.text, error.remedy)]
    }
  }

  private func engine(_ engine: EngineStatus) -> DoctorFinding {
    let text = engine.line
    switch condition.lock {
    case .held(let pid):
      let holder = pid.map { "process \($0)" } ?? "a process"
      return engine.alive
        ? .ok("engine.lock", text)
        : .warn(
          "engine.lock", "\(holder) holds the lock and has had no heartbeat for a minute", "check whether it hangs")
    case .unknown: return .ok("engine.lock", text)
    case .free:
      return engine.hasCrashed
        ? .warn("engine.lock", text, "\"transfers run\" recovers its files") : .ok("engine.lock", text)
    }
  }
}
