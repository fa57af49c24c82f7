import FoundationEssentials
import Glibc
import Testing
import TransferModel
import TransferProtocols

@testable import Transfers
@testable import TransfersCLI

/// Sets of shards: an index exists only for a complete set.
@Suite struct ManifestShardTests {
  private let program: BuiltProgram
  private let parts: String
  private let manifest: String

  init() throws {
    program = try BuiltProgram()
    parts = program.folder.path + "/parts"
    manifest = program.folder.path + "/m.jsonl"
  }

  private struct Index: Decodable {
    struct Shard: Decodable {
      var shard, sha256: String
      var files, bytes, lines, size: Int
    }
    var set, manifest_sha256: String
    var files, bytes, failed, count: Int
    var shards: [Shard]
  }

  private func index() throws -> Index {
    try JSONDecoder().decode(Index.self, from: Data(try readBytes(parts + "/shards.json")))
  }

  private func list(_ count: Int) -> String {
    (1...count).map { "{\"path\":\"f\($0)\",\"size\":\($0)}\n" }.joined()
  }

  private func sum(_ path: String) throws -> String {
    hexText(RunningDigest.of(try readBytes(path), .sha256).bytes)
  }

  /// Each shard matches the index, and together the shards are the manifest.
  private func expectWhole(_ files: Int) throws {
    let index = try index()
    #expect(index.set == "transfers.shards/1" && index.files == files && index.count == index.shards.count)
    #expect(Set(try names(in: parts)) == Set(index.shards.map(\.shard) + ["shards.json"]))
    for shard in index.shards {
      let text = try readText("\(parts)/\(shard.shard)")
      #expect(try sum("\(parts)/\(shard.shard)") == shard.sha256)
      #expect(text.utf8.count == shard.size && text.split(separator: "\n").count == shard.lines)
    }
    #expect(index.shards.reduce(0) { $0 + $1.files } == files)
    let whole = program.folder.path + "/whole"
    #expect(try program.run("manifest", "convert", manifest, "-o", whole).code == 0)
    #expect(try sum(whole) == index.manifest_sha256)
  }

  @Test func theIndexNamesTheWholeSet() throws {
    try writeFile(manifest, Array(list(9).utf8))
    #expect(try program.run("manifest", "shard", manifest, "--shards", "3", "--into", parts).code == 0)
    try expectWhole(9)
    #expect(try index().shards.map(\.shard) == ["shard-001.jsonl", "shard-002.jsonl", "shard-003.jsonl"])
    #expect(try index().shards.map(\.bytes).reduce(0, +) == 45)
  }

  /// Without --into the folder is that of -o; with it, -o is the file for the result, as in every command.
  @Test func theFolderMayBeTheOutput() throws {
    try writeFile(manifest, Array(list(9).utf8))
    #expect(try program.run("manifest", "shard", manifest, "--shards", "3", "-o", parts).code == 0)
    try expectWhole(9)
    let told = program.folder.path + "/told.json"
    let outcome = try program.run(
      "manifest", "shard", manifest, "--shards", "2", "--into", parts + "2", "--json", "-o", told)
    #expect(outcome.code == 0 && outcome.out.isEmpty, "\(outcome.err)")
    #expect(try readText(told).contains("\"transfers.manifest.shard/1\""))
    #expect(try names(in: parts + "2").count == 3)
  }

  @Test func aSetThatFailsLeavesNothing() throws {
    try writeFile(manifest, Array((list(9) + "{\"path\":\"../x\"}\n").utf8))
    #expect(try program.run("manifest", "shard", manifest, "--shards", "3", "--into", parts).code == 65)
    #expect(access(parts, F_OK) != 0)
    #expect(mkdir(parts, 0o700) == 0)
    #expect(try program.run("manifest", "shard", manifest, "--shards", "3", "--into", parts).code == 65)
    #expect(try names(in: parts).isEmpty)
  }

  /// Two engines would transfer the file at the same time.
  @Test(arguments: [["--shards", "3"], ["--live", "--shard-files", "2"]]) func aPathThatIsThereTwiceIsRefused(
    _ words: [String]
  ) throws {
    try writeFile(manifest, Array((list(4) + #"{"path":"f2","size":9}"# + "\n" + list(1)).utf8))
    let refused = try program.run((["manifest", "shard", manifest, "--into", parts] + words).map { Array($0.utf8) })
    #expect(refused.code == 65 && refused.err.contains("line 5: \"f2\" is in line 2, too"), "\(refused.err)")
    #expect(access(parts + "/shards.json", F_OK) != 0)
  }

  @Test func aSetThatWasCutOffIsNotContinued() throws {
    try writeFile(manifest, Array(list(2).utf8))
    #expect(mkdir(parts, 0o700) == 0)
    try writeFile(parts + "/shard-001.jsonl", [])
    let refused = try program.run("manifest", "shard", manifest, "--shards", "2", "--into", parts)
    #expect(refused.code == 64 && refused.err.contains("without shards.json"), "\(refused.err)")
    #expect(try names(in: parts) == ["shard-001.jsonl"])
  }

  /// A lack of resources or an I/O error is not a usage error.
  @Test(arguments: [(ENOSPC, "output"), (EDQUOT, "output"), (EMFILE, "output"), (EIO, "output"), (EACCES, "usage")])
  func aFullDiskIsNoWrongUsage(_ code: Int32, _ kind: String) {
    errno = code
    let error = ShardSet.failure("write", "/x/shard")
    #expect(error.kind.rawValue == kind)
    #expect(ExitCode(error.kind) == (kind == "usage" ? .usage : .error))
  }

  @Test func partsAppearWhileTheManifestComes() throws {
    let pipe = program.folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    let running = try program.start(
      "manifest", "shard", "--live", pipe, "--list-format", "jsonl", "--shard-files", "3", "--into", parts)
    let writer = open(pipe, O_WRONLY)
    defer { if writer >= 0 { close(writer) } }
    func send(_ text: String) { #expect(write(writer, text, text.utf8.count) == text.utf8.count) }
    send(list(4))
    try running.waitUntilSaid("shard-001.jsonl: 3 files")
    let first = try program.run("manifest", "convert", parts + "/shard-001.jsonl", "--to", "list")
    #expect(first.out == "f1\nf2\nf3\n", "\(first.err)")
    #expect(Set(try names(in: parts)) == ["shard-001.jsonl", ".shard-002.jsonl.part"])
    // When the program is killed here, there is no index, and the complete shard stays.
    running.signal(SIGKILL)
    _ = try running.wait()
    #expect(access(parts + "/shards.json", F_OK) != 0 && access(parts + "/shard-001.jsonl", F_OK) == 0)
  }

  @Test func aManifestIsCutAsItComes() throws {
    try writeFile(manifest, Array(list(8).utf8))
    let text = try readText(manifest)
    let outcome = try program.run(
      ["manifest", "shard", "--live", "-", "--shard-files", "3", "--shard-bytes", "9", "--into", parts].map {
        Array($0.utf8)
      }, input: text)
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectWhole(8)
    // 1+2+3, 4+5, 6+7, 8.
    #expect(try index().shards.map(\.bytes) == [6, 9, 13, 8])
  }

  @Test func aListThatIsWrongKeepsWholeParts() throws {
    let text = list(4) + "{\"path\":\"../x\"}\n"
    let outcome = try program.run(
      ["manifest", "shard", "--live", "-", "--list-format", "jsonl", "--shard-files", "3", "--into", parts].map {
        Array($0.utf8)
      }, input: text)
    #expect(outcome.code == 65 && outcome.err.contains("line 5"), "\(outcome.err)")
    #expect(try names(in: parts) == ["shard-001.jsonl"])
  }

  /// Uploads of two shards to one key would replace each other; the path serves for a file without a key.
  @Test(arguments: [
    (#"{"path":"a"}|{"path":"b","key":"k"}|{"path":"c","key":"k"}"#, "line 3: the key \"k\" is that of line 2"),
    (#"{"path":"a"}|{"path":"b"}|{"path":"c","key":"a"}"#, "line 3: the key \"a\" is that of line 1"),
    (#"{"path":"a","key":"b"}|{"path":"b"}"#, "line 2: the key \"b\" is that of line 1"),
    (#"{"path":"a","key":"b"}|{"path":"b","key":"a"}"#, ""),
    (#"{"path":"a","url":"http://h/a","key":"7"}|{"path":"b","url":"http://h/b","key":"7"}"#, ""),
  ])
  func aKeyThatTwoFilesHaveIsRefused(_ list: String, _ cause: String) throws {
    try writeFile(manifest, Array(list.replacing("|", with: "\n").utf8))
    let outcome = try program.run("manifest", "shard", manifest, "--shards", "2", "--into", parts)
    #expect(outcome.code == (cause.isEmpty ? 0 : 65) && outcome.err.contains(cause), "\(outcome.err)")
    #expect((access(parts, F_OK) == 0) == cause.isEmpty)
    let moved = try program.run("manifest", "rebase", manifest, "--from", ".", "--to", "in")
    let isRefused = cause.contains("\"k\"")
    #expect(moved.code == (isRefused ? 65 : 0), "\(moved.err)")
  }

  @Test func aFolderIsCutWhileItIsScanned() throws {
    let tree = program.folder.path + "/tree"
    #expect(mkdir(tree, 0o700) == 0)
    for number in 1...5 { try writeFile("\(tree)/f\(number)", [UInt8](repeating: 1, count: number)) }
    let outcome = try program.run(
      "manifest", "shard", "--live", "--from", tree, "--digest", "sha256", "--shard-files", "2", "--into", parts)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try index().shards.map(\.files) == [2, 2, 1])
    for shard in try index().shards {
      let check = try program.run("manifest", "check", "\(parts)/\(shard.shard)", "--folder", tree)
      #expect(check.code == 0 && check.out.contains("\(shard.files) intact"), "\(check.out)\(check.err)")
    }
  }

  /// A scan would list the shards that it is writing, without end.
  @Test func partsInsideTheListedFolderAreRefused() throws {
    let tree = program.folder.path + "/tree"
    for path in [tree, tree + "/sub", tree + "/sub/empty"] { #expect(mkdir(path, 0o700) == 0) }
    try writeFile(tree + "/f", [1])
    #expect(symlink(tree + "/sub", program.folder.path + "/link") == 0)
    #expect(symlink(tree, program.folder.path + "/same") == 0)
    let places = [
      tree, tree + "/parts", tree + "/sub/empty", tree + "/sub/../parts", program.folder.path + "/link/parts",
    ]
    for from in [tree, program.folder.path + "/same"] {
      for into in places {
        let refused = try program.run(
          "manifest", "shard", "--live", "--from", from, "--shard-files", "1", "--into", into)
        #expect(refused.code == 64 && refused.err.contains("which is listed"), "\(into): \(refused.err)")
      }
    }
    #expect(Set(try names(in: tree)) == ["f", "sub"])
    let missing = try program.run(
      "manifest", "shard", "--live", "--from", tree + "/*", "--shard-files", "1", "--into", parts)
    #expect(missing.code == 66, "\(missing.err)")
    let beside = try program.run("manifest", "shard", "--live", "--from", tree, "--shard-files", "1", "--into", parts)
    #expect(beside.code == 0, "\(beside.err)")
  }

  @Test func filesThatCannotBeListedAreCountedInTheIndex() throws {
    let tree = program.folder.path + "/tree"
    #expect(mkdir(tree, 0o700) == 0)
    try writeFile(tree + "/good", [1])
    try writeFile(tree + "/bad\u{1}", [1])
    let outcome = try program.run(
      "manifest", "shard", "--live", "--from", tree, "--shard-files", "9", "--into", parts)
    #expect(outcome.code == 3 && outcome.err.contains("1 file could not be listed"), "\(outcome.err)")
    #expect(try index().failed == 1 && index().files == 1)
  }

  @Test(arguments: [
    "m --live --into p", "m --live --shards 2 --shard-files 2 --into p", "m --shards 2 --shard-files 2 --into p",
    "--from d --shards 2 --into p", "m --from d --live --shard-files 1 --into p", "--live --shard-files 1 --into p",
    "m --shards 0 --into p", "m --into p", "m --live --shard-files 0 --into p",
    "m --live --digest md5 --shard-files 1 --into p", "m --shards 2", "m --shards 2 -o -",
  ])
  func whatContradictsIsRefused(_ words: String) throws {
    let outcome = try program.run(
      (["manifest", "shard"] + words.split(separator: " ").map(String.init)).map { Array($0.utf8) })
    #expect(outcome.code == 64, "\(outcome.err)")
  }
}
