import Glibc
import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// `doctor` and the commands that treat the ledger as a file, through the built program.
@Suite struct DoctorTests {
  let program: BuiltProgram
  let store: String

  init() throws {
    program = try BuiltProgram()
    store = try FilledLedger(in: program.folder).path
  }

  private func doctor(_ environment: [String: String] = [:], store: String? = nil) throws -> [String: String] {
    let outcome = try program.run(
      "doctor", "--format", "tsv", "--store", store ?? self.store, environment: environment)
    var verdicts: [String: String] = [:]
    for line in outcome.out.split(separator: "\n").dropFirst() {
      let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      #expect(words.count == 4, "\(line)")
      if words.count == 4 { verdicts[words[0]] = "\(words[1]) \(words[2]) | \(words[3])" }
      if words.count == 4 { #expect((words[1] == "ok") == words[3].isEmpty, "a remedy unless it is ok: \(line)") }
    }
    return verdicts
  }

  @Test func aSoundMachineHasNoFailure() throws {
    let outcome = try program.run("doctor", "--store", store)
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.err)")
    #expect(!outcome.out.contains("\nfail"))
    let verdicts = try doctor()
    for check in [
      "version.transfers", "version.libcurl", "version.sqlite", "tls.trust", "ledger.place", "ledger.filesystem",
      "disk.free",
      "ledger.mode", "ledger.log", "ledger.gate",
      "ledger.integrity", "engine.lock", "clock.order", "clock.time", "limits.files",
      "limits.size", "proxy", "terminal", "credentials.aws",
    ] { #expect(verdicts[check] != nil, "\(check)") }
    #expect(verdicts["ledger.integrity"]?.hasPrefix("ok well formed") == true)
    #expect(try program.run("store", "check", "--store", store).code == 0)
  }

  @Test func itChangesNothing() throws {
    let path = program.folder.path + "/none/l.db"
    #expect(try doctor(store: path)["ledger.place"]?.contains("does not exist yet") == true)
    #expect(access(program.folder.path + "/none", F_OK) != 0)
  }

  @Test func aLedgerThatOthersMayWriteFails() throws {
    chmod(store, 0o666)
    let outcome = try program.run("doctor", "--store", store)
    #expect(outcome.code == 7)
    #expect(outcome.err.hasPrefix("transfers: error[doctor]: 1 check failed: ledger.mode: mode 0666"), "\(outcome.err)")
    chmod(store, 0o644)
    #expect(try doctor()["ledger.mode"]?.hasPrefix("warn mode 0644") == true)
  }

  /// Every command that writes waits for it; a command that only looks says who it is. A healthy process may take long
  /// to empty a log.
  @Test func aProcessThatKeepsWritersWaitingIsNamed() throws {
    let gate = open(store + ".gate", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(gate) }
    try #require(gate >= 0 && flock(gate, LOCK_EX) == 0)
    let found = try doctor()["ledger.gate"] ?? ""
    #expect(found.hasPrefix("warn process \(getpid()) ("), "\(found)")
    #expect(flock(gate, LOCK_UN) == 0)
    #expect(try doctor()["ledger.gate"]?.hasPrefix("ok") == true)
  }

  @Test func onlyAStoppedProcessIsToBlame() {
    for isStopped in [true, false] {
      let finding = LedgerChecks.gate(of: "/l.db", StoreCondition.GateHolder(words: "process 1", isStopped: isStopped))
      #expect(finding.outcome.rawValue == (isStopped ? "fail" : "warn"))
    }
    #expect(LedgerChecks.gate(of: "/l.db", nil).outcome == .ok)
  }

  @Test func aDamagedLedgerFails() throws {
    let file = try #require(fopen(store, "r+"))
    fseek(file, 4096 * 3, SEEK_SET)
    fputs(String(repeating: "x", count: 8192), file)
    fclose(file)
    let outcome = try program.run("doctor", "--store", store)
    #expect(outcome.code == 7)
    #expect(outcome.err.contains("ledger."))
  }

  @Test func secretsOfTheEnvironmentAreNotShown() throws {
    let environment = [
      "http_proxy": "http://user:s3cret-word@proxy.example:3128", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
      "AWS_SECRET_ACCESS_KEY": "wJalr-s3cret-word",
    ]
    let outcome = try program.run("doctor", "--store", store, environment: environment)
    #expect(!outcome.out.contains("s3cret-word") && !outcome.out.contains("AKIDEXAMPLE"))
    #expect(outcome.out.contains("http_proxy=http://***@proxy.example:3128"), "\(outcome.out)")
    #expect(outcome.out.contains("from the environment (AWS_ACCESS_KEY_ID)"))
  }

  @Test(arguments: [
    ("proxy", ["HTTP_PROXY": "http://127.0.0.1:1"], "warn HTTP_PROXY is set but ignored"),
    ("terminal", ["LC_ALL": "C"], "warn TERM="), ("tls.trust", ["SSL_CERT_FILE": "/dev/null"], "fail /dev/null"),
    ("credentials.aws", ["AWS_ACCESS_KEY_ID": "x"], "warn AWS_ACCESS_KEY_ID is set"),
  ])
  func whatTheEnvironmentDoesWrong(_ check: String, _ environment: [String: String], _ verdict: String) throws {
    let found = try doctor(
      ["AWS_CONFIG_FILE": "/none", "AWS_SHARED_CREDENTIALS_FILE": "/none"].merging(environment) { $1 })
    #expect(found[check]?.hasPrefix(verdict) == true, "\(found[check] ?? "-")")
  }

  @Test func copiesAreMadeAndNothingIsOverwritten() throws {
    let copy = program.folder.path + "/copy.db"
    for kind in ["snapshot", "backup"] {
      let made = try program.run("store", kind, copy, "--store", store, "--force")
      #expect(made.code == 0, "\(made.err)")
      #expect(made.out.hasPrefix("\(kind) \(copy): "))
      let again = try program.run("store", kind, copy, "--store", store)
      #expect(again.code == 64)
      #expect(again.err.contains("it exists. Try: use another name, or --force"), "\(again.err)")
      #expect(
        try program.run("list", "files", "--store", copy).out == program.run("list", "files", "--store", store).out)
    }
    // The backup was opened as a ledger; that leaves no WAL that could be mixed with another copy.
    let used = try program.run("store", "backup", copy, "--store", store, "--force")
    #expect(used.code == 0, "\(used.err)")
    let missing = try program.run("store", "snapshot", copy, "--force", "--store", copy + ".none")
    #expect(missing.code == 7)
  }

  @Test func anAuditorMayReadASnapshotThatHeCannotWrite() throws {
    let copy = program.folder.path + "/copy.db"
    #expect(try program.run("store", "snapshot", copy, "--store", store).code == 0)
    chmod(program.folder.path, 0o500)
    defer { chmod(program.folder.path, 0o700) }
    let other = try BuiltProgram()
    #expect(try other.run("report", "--store", copy).code == 0)
    #expect(access(copy + "-wal", F_OK) != 0 && access(copy + "-shm", F_OK) != 0)
  }

  @Test func theStoreDescribesItself() throws {
    let outcome = try program.run("store", "status", "--json", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    for part in [#""files":5"#, #""journal_mode":"wal""#, #""mode":"0600""#, #""is_locked":false"#, #""alive":false"#] {
      #expect(outcome.out.contains(part), "\(part) in \(outcome.out)")
    }
  }

  @Test func barsFollowTheFigures() {
    #expect(Sparkline.text([0, 1, 50, 100], columns: 9, isASCII: false) == " ▁▄█")
    #expect(Sparkline.text([0, 1, 50, 100], columns: 9, isASCII: true) == " _-#")
    #expect(Sparkline.text([5, 5, 1, 100, 0, 0], columns: 3, isASCII: false) == "▁█ ")
    #expect(Sparkline.text([0, 0], columns: 3, isASCII: false).isEmpty)
  }
}
