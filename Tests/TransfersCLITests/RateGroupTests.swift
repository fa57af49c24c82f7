import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Engines with separate ledgers that share a rate. The tests check the time that the bytes took to arrive; a slow
/// machine only makes it longer.
@Suite struct RateGroupTests {
  private static let rate: Int64 = 3 << 20
  private static let size = 2 << 20
  /// The bytes that each engine may send ahead of the rate.
  private static let burst = 512 << 10

  private let program: BuiltProgram
  private var source: String { program.folder.path + "/big" }

  init() throws {
    program = try BuiltProgram()
    try writeFile(source, [UInt8](repeating: 7, count: Self.size))
    #expect(mkdir(program.folder.path + "/run", 0o700) == 0)
  }

  private var environment: [String: String] { ["XDG_RUNTIME_DIR": program.folder.path + "/run"] }

  private func words(_ number: Int, _ receiver: RunningReceiver, rate: String = "3M") -> [String] {
    [
      "push", source, "\(receiver.url)/in/\(number)", "--store", "\(program.folder.path)/l\(number).db", "--rate", rate,
      "--rate-group", "line", "--progress", "none",
    ]
  }

  private func start(_ number: Int, _ receiver: RunningReceiver, rate: String = "3M") throws -> BuiltProgram.Running {
    try program.start(words(number, receiver, rate: rate), number: number, environment: environment)
  }

  private func expect(_ count: Int, since beganMs: Int64) {
    let ms = SystemClock().bootMs - beganMs
    let least = Int64(count * (Self.size - Self.burst)) * 1_000 / Self.rate
    #expect(ms >= least, "\(count) files took \(ms) ms")
  }

  /// Before anything is recorded.
  @Test func aGroupThatCannotBeJoinedIsRefusedFirst() throws {
    let store = program.folder.path + "/l.db"
    let push = ["push", source, "http://127.0.0.1:1/in/", "--store", store, "--rate-group"]
    let pull = ["pull", "http://127.0.0.1:1/in/a", program.folder.path + "/in/", "--store", store, "--rate-group"]
    for words in [push, pull] {
      let wrong = try program.run((words + ["../x"]).map { Array($0.utf8) }, environment: environment)
      #expect(wrong.code == 64, "\(wrong.err)")
      #expect(access(store, F_OK) != 0)
    }
    #expect(mkdir(program.folder.path + "/run/transfers", 0o777) == 0)
    chmod(program.folder.path + "/run/transfers", 0o777)
    let open = try program.run((push + ["line"]).map { Array($0.utf8) }, environment: environment)
    #expect(open.code == 78, "\(open.err)")
    #expect(access(store, F_OK) != 0)
  }

  @Test func threeTogetherKeepTheRate() throws {
    let receiver = try RunningReceiver(in: program.folder)
    let beganMs = SystemClock().bootMs
    let all = try (1...3).map { try start($0, receiver) }
    for running in all {
      let outcome = try running.wait()
      #expect(outcome.code == 0, "\(outcome.err)")
    }
    expect(3, since: beganMs)
    #expect(try names(in: program.folder.path + "/run/transfers/rate-line") == ["gate"])
  }

  /// Three engines send; one is killed in the middle of its body.
  @Test func theRateIsKeptWhileOneIsKilled() throws {
    let receiver = try RunningReceiver(in: program.folder, script: "match PUT /in/1 : body-hold=65536,killed")
    let beganMs = SystemClock().bootMs
    let all = try (1...3).map { try start($0, receiver) }
    try receiver.waitUntilHeld("killed")
    all[0].signal(SIGKILL)
    _ = try all[0].wait()
    try receiver.release("killed")
    for running in all.dropFirst() { #expect(try running.wait().code == 0) }
    let again = try program.run(
      words(1, receiver).map { Array($0.utf8) }, environment: environment)
    #expect(again.code == 0, "\(again.err)")
    expect(3, since: beganMs)
    #expect(try names(in: program.folder.path + "/run/transfers/rate-line") == ["gate"])
  }

  @Test func theSmallestRateIsTold() throws {
    let receiver = try RunningReceiver(in: program.folder, script: "match PUT /in/1 : hold=slow")
    let first = try start(1, receiver)
    try receiver.waitUntilHeld("slow")
    let second = try program.run(words(2, receiver, rate: "90M").map { Array($0.utf8) }, environment: environment)
    #expect(second.code == 0)
    #expect(
      second.err.contains("rate group \"line\": \(Self.rate) bytes/s for all its engines together"), "\(second.err)")
    try receiver.release("slow")
    let outcome = try first.wait()
    #expect(outcome.code == 0 && !outcome.err.contains("rate group"), "\(outcome.err)")
  }

  @Test func aFolderOfOthersAndWrongNamesAreRefused() throws {
    let receiver = try RunningReceiver(in: program.folder)
    #expect(mkdir(program.folder.path + "/run/transfers", 0o700) == 0)
    #expect(chmod(program.folder.path + "/run/transfers", 0o777) == 0)
    let open = try program.run(words(1, receiver).map { Array($0.utf8) }, environment: environment)
    #expect(open.code == 78 && open.err.contains("XDG_RUNTIME_DIR"), "\(open.err)")
    let name = try program.run(
      (words(1, receiver) + ["--rate-group", "../x"]).map { Array($0.utf8) }, environment: environment)
    #expect(name.code == 64 && name.err.contains("join rate group"), "\(name.err)")
    let stream = try program.run("pull", "\(receiver.url)/in/1", "-", "--rate-group", "line", environment: environment)
    #expect(stream.code == 64 && stream.err.contains("--rate-group"), "\(stream.err)")
  }
}
