import Testing
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Programs that supply secrets and URLs, or get callbacks, and leave a process in the background, as helpers do that
/// start an agent. It inherits their output, and keeps it open.
@Suite(.timeLimit(.minutes(2))) struct RunningCommandTests {
  private let folder: TemporaryFolder
  private static let limitMs: Int64 = 20_000

  init() throws {
    folder = try TemporaryFolder()
    mkfifo("\(folder.path)/pipe", 0o600)
  }

  /// - Parameter script: what the program does after the start of the process in the background.
  private func start(_ script: String) throws -> RunningCommand {
    let background = "(read -r line < '\(folder.path)/pipe'; echo > '\(folder.path)/late') &"
    return try RunningCommand(["/bin/sh", "-c", "\(background)\n\(script)"], code: .authMissing)
  }

  /// Whether the process in the background, which may go on now, does its work.
  private func isWorkDone() -> Bool {
    let clock = SystemClock()
    let endMs = clock.bootMs + Self.limitMs
    while access("\(folder.path)/late", F_OK) != 0 {
      guard clock.bootMs < endMs else { return false }
      let pipe = open("\(folder.path)/pipe", O_WRONLY | O_NONBLOCK)
      if pipe >= 0 { close(pipe) }
      usleep(1_000)
    }
    return true
  }

  /// All that the program wrote before it ended is read, however it is divided.
  @Test func itsOutputIsThatOfTheProgram() throws {
    let output = try start("i=0; while [ $i -lt 500 ]; do echo 0123456789; i=$((i+1)); done")
      .output(limitMs: Self.limitMs) { false }
    #expect(String(decoding: output, as: UTF8.self) == String(repeating: "0123456789\n", count: 500))
    #expect(isWorkDone())
  }

  @Test func aFailureIsToldWhileTheOutputIsOpen() throws {
    let command = try start("exit 75")
    let failure = #expect(throws: Failure.self) { try command.output(limitMs: Self.limitMs) { false } }
    #expect(failure?.message == "the command ended with exit code 75" && command.isTemporary)
    #expect(isWorkDone())
  }

  /// What a receiver of callbacks has begun goes on after its end.
  @Test func workInTheBackgroundGoesOn() throws {
    let (code, output) = try start("echo said").result(keeping: 3, limitMs: Self.limitMs) { false }
    #expect(code == 0 && output == Array("sai".utf8))
    #expect(isWorkDone())
  }
}
