import Glibc
import Testing
import TransferTestSupport

@testable import TransfersCLI

/// `pull s3://…` from the bundled server, addressed as S3 with the bucket in the path.
@Suite struct PullS3Tests {
  let program: BuiltProgram
  let receiver: RunningReceiver

  init() throws { try self.init(script: "") }

  private init(script: String) throws {
    program = try BuiltProgram()
    receiver = try RunningReceiver(in: program.folder, script: script)
    mkdir(receiver.root + "/bucket", 0o700)
    mkdir(program.folder.path + "/in", 0o700)
  }

  private func pull(_ options: [String] = [], _ names: String...) throws -> BuiltProgram.Outcome {
    let urls = names.map { "s3://bucket/\($0)" }
    let arguments = ["pull", "--part-size", "64K", "--store", program.folder.path + "/l.db"] + options + urls
    return try program.run(
      (arguments + [program.folder.path + "/in"]).map { Array($0.utf8) },
      environment: [
        "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "canary-pull-s3", "AWS_ENDPOINT_URL": receiver.url,
      ])
  }

  private func object(_ name: String, _ size: Int) throws -> [UInt8] {
    let bytes = noise(size)
    try writeFile(receiver.root + "/bucket/" + name, bytes)
    return bytes
  }

  private func mode(_ name: String) throws -> UInt32 {
    var status = stat()
    guard stat(program.folder.path + "/in/" + name, &status) == 0 else { throw SystemFailure("stat \(name)") }
    return status.st_mode & 0o7777
  }

  private func came(_ name: String) throws -> [UInt8] { try readBytes(program.folder.path + "/in/" + name) }

  @Test func objectsComeWhole() throws {
    let objects = try ["a": 0, "b c?d": 10, "e": 300_000].map { ($0.key, try object($0.key, $0.value)) }
    let outcome = try pull([], "a", "b c?d", "e")
    #expect(outcome.code == 0, "\(outcome.err)")
    for (name, bytes) in objects { #expect(try came(name) == bytes, "\(name)") }
    #expect(try pull([], "e").out.contains("0 new"))
  }

  /// People of other programs mean a prefix or a pattern.
  @Test func aNameThatIsNoObjectIsExplained() throws {
    _ = try object("x.log", 10)
    let prefix = try pull([], "some/prefix")
    #expect(
      prefix.code == 4 && prefix.err.contains("a prefix ends with a slash, \"s3://bucket/some/prefix/\""), "\(prefix)")
    let pattern = try pull([], "x/*.log")
    #expect(pattern.err.contains("patterns in URLs are not expanded: \"s3://bucket/x/\" is everything"), "\(pattern)")
    #expect(try !pull([], "x.log").err.contains("prefix"))
  }

  /// The object changes with the third answer. `If-Match` detects that, and the file has no byte of the first version.
  @Test func anObjectThatChangesIsFetchedAnew() throws {
    let scene = try Self(script: "match * * nth=3 times=1000 : version=7\n")
    let first = try scene.object("o", 400_000)
    let outcome = try scene.pull([], "o")
    #expect(outcome.code == 0, "\(outcome.err)")
    let now = try scene.came("o")
    #expect(now.count == first.count && zip(now, first).allSatisfy { $0 != $1 })
  }

  /// The permissions that were stored with an object, without the right to act as its owner.
  @Test func permissionsAreKeptIfAskedFor() throws {
    let scene = try Self(script: "match * * : field=\"x-amz-meta-mode: 104751\"\n")
    _ = try scene.object("o", 10)
    _ = try scene.object("p", 10)
    #expect(try scene.pull(["--keep-mode"], "o").code == 0)
    #expect(try scene.pull([], "p").code == 0)
    let (kept, usual) = (try scene.mode("o"), try scene.mode("p"))
    #expect(kept == 0o751 && usual & 0o111 == 0, "\(kept) \(usual)")
  }

  @Test func whatIsNotThereFails() throws {
    let outcome = try pull([], "none")
    #expect(outcome.code == 4, "\(outcome.err)")
    #expect(outcome.err.contains("404"), "\(outcome.err)")
  }

  @Test func withoutKeysEverythingWaits() throws {
    _ = try object("o", 10)
    let arguments = ["pull", "--store", program.folder.path + "/l.db", "--endpoint-url", receiver.url, "s3://bucket/o"]
    let outcome = try program.run((arguments + [program.folder.path + "/in"]).map { Array($0.utf8) })
    #expect(outcome.code != 0)
    #expect(outcome.err.contains("AWS_ACCESS_KEY_ID"), "\(outcome.err)")
    #expect(!outcome.out.contains("failed"), "\(outcome.out)")
    #expect(try pull([], "o").code == 0)
  }

  @Test func anOptionMustSaySomethingToOneOfTheServers() throws {
    let folder = program.folder.path
    let refused = try program.run("pull", "--store", folder + "/l.db", "--region", "eu", "http://h/a", folder + "/in")
    #expect(refused.code == 64)
    #expect(
      refused.err.hasPrefix("transfers: error[usage]: read --region: not supported for this source"), "\(refused.err)")
    let planned = try program.run(
      "pull", "-n", "--store", folder + "/l.db", "--region", "eu", "http://h/a", "s3://bucket/b", folder + "/in")
    #expect(planned.code == 0, "\(planned.err)")
    #expect(planned.out.contains("https://bucket.s3.eu.amazonaws.com"), "\(planned.out)")
    let idle = try program.run(
      ["pull", "-n", "--store", folder + "/l.db", "http://h/a", folder + "/in"].map { Array($0.utf8) },
      environment: ["TRANSFERS_REGION": "eu"])
    #expect(idle.code == 0, "\(idle.err)")
  }
}
