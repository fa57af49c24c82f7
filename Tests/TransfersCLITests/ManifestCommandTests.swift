import FoundationEssentials
import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// `transfers manifest`, on the files of a folder.
@Suite struct ManifestCommandTests {
  private let program: BuiltProgram
  private let tree: String
  private let manifest: String

  init() throws {
    program = try BuiltProgram()
    tree = program.folder.path + "/tree"
    manifest = program.folder.path + "/m.jsonl"
    for folder in ["", "/sub"] { #expect(mkdir(tree + folder, 0o700) == 0) }
    for (name, size) in [("a", 100_000), ("b", 10), ("empty", 0), ("sub/c d", 5_000), ("sub/line\nend", 7)] {
      try writeFile("\(tree)/\(name)", (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 + size) })
    }
  }

  private func build(_ options: String...) throws -> BuiltProgram.Outcome {
    try program.run((["manifest", "build", tree] + options).map { Array($0.utf8) })
  }

  /// Neither the output file nor the file that it replaces is listed.
  @Test func theOutputIsNotListed() throws {
    let output = tree + "/sub/out.list"
    for _ in 1...2 {
      let built = try build("--to", "list0", "-o", output)
      #expect(built.code == 0 && built.err.contains("it is the output of this command"), "\(built.err)")
      let listed = try readText(output).split(separator: "\0").sorted()
      #expect(listed == ["a", "b", "empty", "sub/c d", "sub/line\nend"])
    }
  }

  private func check(_ options: String...) throws -> BuiltProgram.Outcome {
    try program.run((["manifest", "check", manifest, "--folder", tree] + options).map { Array($0.utf8) })
  }

  private struct Document<Data: Decodable>: Decodable { var data: Data }
  private struct Finding: Decodable { var path, finding: String }
  private struct Size: Decodable { var files, bytes: Int64 }
  private struct Shards: Decodable { var shards: [Size] }
  private struct Analysis: Decodable {
    var files, bytes, proposed_shards, without_digest: Int64
    var largest_path: String
    var proposed_options, proposed_command: String?
    var sizes: [Size]
  }

  private func document<D: Decodable>(_ text: String, of type: D.Type) throws -> D {
    try JSONDecoder().decode(Document<D>.self, from: Data(text.utf8)).data
  }

  @Test func aFolderIsListedAndCompared() throws {
    let built = try build("--digest", "sha256", "-o", manifest)
    #expect(built.code == 0 && built.err.contains("5 files, 102 KiB"), "\(built.err)")
    let intact = try check()
    #expect(intact.code == 0 && intact.out.contains("5 intact"), "\(intact.out)\(intact.err)")

    // One file with the same size but other content, one file that is missing, and one that is longer.
    try writeFile(tree + "/b", Array("0123456789".utf8))
    #expect(unlink(tree + "/empty") == 0)
    try writeFile(tree + "/sub/c d", Array(repeating: 1, count: 5_001))
    let outcome = try check("--json")
    #expect(outcome.code == 8, "\(outcome.err)")
    let rows = try document(outcome.out, of: [Finding].self)
    #expect(
      rows.map { "\($0.path) \($0.finding)" } == [
        "b changed", "empty missing", "sub/c d changed",
      ], "\(outcome.out)")
    let quick = try check("--quick")
    let words = "3 of the same size (no digest compared), 1 changed, 1 missing"
    #expect(quick.code == 8 && quick.out.contains(words), "\(quick.out)")
  }

  /// A file counts as intact only if a digest was compared.
  @Test func whatIsNotKnownIsNotCalledIntact() throws {
    for (line, words, key) in [
      (#"{"path":"a"}"#, "1 present (nothing to compare with)", "present"),
      (#"{"path":"b","size":10}"#, "1 of the same size (no digest compared)", "same size"),
    ] {
      try writeFile(manifest, Array((line + "\n").utf8))
      let outcome = try check()
      #expect(outcome.code == 0 && outcome.out.contains(words) && !outcome.out.contains("intact"), "\(outcome.out)")
      let rows = try document(check("--json", "--verbose").out, of: [Finding].self)
      #expect(rows.map(\.finding) == [key])
    }
  }

  /// Nothing outside the folder is read, whatever the manifest or a link says.
  @Test func nothingOutsideOfTheFolderIsRead() throws {
    try writeFile(program.folder.path + "/secret", Array("x".utf8))
    #expect(symlink(program.folder.path, tree + "/out") == 0)
    try writeFile(manifest, Array("{\"path\":\"out/secret\",\"size\":1}\n".utf8))
    let linked = try check()
    #expect(linked.code != 0 && !linked.out.contains("1 intact"), "\(linked.code) \(linked.out)\(linked.err)")
    for path in ["../secret", "/etc/passwd", "a/../../secret"] {
      try writeFile(manifest, Array("{\"path\":\"\(path)\"}\n".utf8))
      #expect(try check().code == 65)
    }
  }

  @Test func checksumFilesAreThoseOfCoreutils() throws {
    let built = try build("--digest", "sha256", "--to", "sums", "-o", program.folder.path + "/SHA256SUMS")
    #expect(built.code == 0, "\(built.err)")
    #expect(system("cd \(tree) && sha256sum --strict --quiet -c ../SHA256SUMS >/dev/null 2>&1") == 0)
    let converted = try program.run("manifest", "convert", program.folder.path + "/SHA256SUMS", "--to", "list0")
    #expect(converted.out.split(separator: "\0").map(String.init) == ["a", "b", "empty", "sub/c d", "sub/line\nend"])
  }

  @Test func filesThatCannotBeListedAreNamed() throws {
    try writeFile(tree + "/esc\u{1B}[2J", [1])
    let built = try build("-o", manifest)
    #expect(
      built.code == 3 && built.err.contains("control character") && !built.err.utf8.contains(0x1B), "\(built.err)")
    #expect(try check().code == 0)
    #expect(try build("--digest", "sha3").code == 64)
    #expect(try build("--json").code == 64)
    #expect(try program.run("manifest", "build", tree + "/nowhere").code == 66)
    let untrue = try program.run("manifest", "build", "--digest", "sha256", "/proc/version")
    #expect(untrue.code != 0 && untrue.err.contains("has more bytes than its size of 0"), "\(untrue)")
  }

  @Test func aManifestIsCutIntoPartsThatAreWhole() throws {
    #expect(try build("-o", manifest).code == 0)
    let parts = program.folder.path + "/parts"
    let cut = try program.run("manifest", "shard", manifest, "--shards", "2", "--into", parts, "--json")
    #expect(cut.code == 0, "\(cut.err)")
    #expect(try document(cut.out, of: Shards.self).shards.map(\.bytes) == [100_000, 5_017], "\(cut.out)")
    var paths: [String] = []
    for name in ["shard-001.jsonl", "shard-002.jsonl"] {
      let list = try program.run("manifest", "convert", "\(parts)/\(name)", "--to", "list0")
      #expect(list.code == 0)
      paths += list.out.split(separator: "\0").map(String.init)
    }
    #expect(paths.sorted() == ["a", "b", "empty", "sub/c d", "sub/line\nend"])
    #expect(try program.run("manifest", "shard", manifest, "--shards", "2", "--into", parts).code == 64)

    // A shard that was truncated at a line end is refused, also as input of `shard`, which then leaves no output.
    let whole = try readText(parts + "/shard-002.jsonl").split(separator: "\n")
    try writeFile(parts + "/shard-002.jsonl", Array(whole.dropLast().joined(separator: "\n").utf8 + [0x0A]))
    let short = try program.run("manifest", "check", parts + "/shard-002.jsonl", "--folder", tree)
    #expect(short.code == 65 && short.err.contains("cut off"), "\(short.err)")
    let failed = try program.run(
      "manifest", "shard", parts + "/shard-002.jsonl", "--shards", "2", "--into", parts + "-2")
    #expect(failed.code == 65 && access(parts + "-2", F_OK) != 0, "\(failed.err)")
  }

  @Test func sizesAreCounted() throws {
    #expect(try build("-o", manifest).code == 0)
    let outcome = try program.run("manifest", "analyze", manifest, "--json")
    let data = try document(outcome.out, of: Analysis.self)
    #expect(data.files == 5 && data.bytes == 105_017 && data.proposed_shards == 1)
    #expect(data.largest_path == "a" && data.without_digest == 5)
    #expect(data.sizes.map(\.files) == [1, 2, 1, 1], "\(outcome.out)")
    #expect(data.proposed_options == nil && data.proposed_command == nil)
  }

  /// One shard of many small files; three shards because of the total size; and both, with limits for all tasks.
  @Test func shardsAndOptionsAreProposed() throws {
    func proposed(_ count: Int, _ size: Int) throws -> Analysis {
      try writeFile(manifest, Array((1...count).map { "{\"path\":\"\($0)\",\"size\":\(size)}\n" }.joined().utf8))
      return try document(try program.run("manifest", "analyze", manifest, "--json").out, of: Analysis.self)
    }
    let small = try proposed(1_000, 9)
    #expect(small.proposed_options == "--workers 32" && small.proposed_command == nil)
    let large = try proposed(5, 1 << 39)
    #expect(large.proposed_shards == 3 && large.proposed_options == "--at-once 3")
    #expect(large.proposed_command == "transfers manifest shard \(manifest) --shards 3 --into shards/")
    let many = try proposed(250_001, 9)
    #expect(many.proposed_options == "--at-once 2 --workers 64")
  }
}
