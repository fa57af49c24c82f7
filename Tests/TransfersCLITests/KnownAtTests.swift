import Glibc
import Testing
import TransferModel
import TransferReports

@testable import TransfersCLI

/// `--known-at`: what an S3 Inventory or a manifest shows to be at the destination is not sent. Judged by what the
/// server received.
@Suite struct KnownAtTests {
  private static let hello = "5d41402abc4b2a76b9719d911017c592"
  private static let schema =
    "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, IsMultipartUploaded, EncryptionStatus"

  private let scene: BucketScene
  private var program: BuiltProgram { scene.program }
  private var server: ScriptedServer { scene.server }
  private var root: String { scene.root }

  init() throws {
    scene = try BucketScene(
      folders: ["source/dir", "inventory", "inventory/data", "inventory/now"],
      files: [
        "same": "hello", "gone": "hello", "kms": "hello", "parts": "hello", "dir/a b+c": "hello", "other": "HELLO",
        "new": "new",
      ])
  }

  private static func row(
    _ key: String, _ etag: String = KnownAtTests.hello, latest: Bool = true, deleted: Bool = false, parts: Bool = false,
    encryption: String = "SSE-S3", size: String = "5"
  ) -> String {
    let fields = [
      "bucket", key, "v1", "\(latest)", "\(deleted)", deleted ? "" : size, deleted ? "" : etag, "\(parts)", encryption,
    ]
    return fields.map { "\"\($0)\"" }.joined(separator: ",") + "\n"
  }

  private static let rows =
    row("in/same") + row("in/other") + row("in/dir/a+b%2Bc") + row("in/gone", latest: false)
    + row("in/gone", latest: true, deleted: true) + row("in/kms", encryption: "SSE-KMS")
    + row("in/parts", hello + "-1", parts: true) + row("elsewhere/new", "22af645d1859cb5ca6da0c484f1f37ea", size: "3")

  private static func compressed(_ text: String) -> [UInt8] {
    var gzip = Gzip()
    let front = gzip.add(Array(text.utf8))
    return front + gzip.finish()
  }

  /// - Parameter md5: nil for the MD5 that the CSV file has.
  private func writeInventory(
    _ csv: [UInt8] = KnownAtTests.compressed(KnownAtTests.rows), bucket: String = "bucket", md5: String? = nil,
    format: String = "CSV",
    schema: String = KnownAtTests.schema
  ) throws -> String {
    let (data, manifest) = (root + "/inventory/data/part-1.csv.gz", root + "/inventory/now/manifest.json")
    try writeFile(data, csv)
    let sum = try program.run("manifest", "build", data, "--digest", "md5", "--to", "sums").out.prefix(32)
    try writeFile(
      manifest,
      Array(
        """
        {
          "sourceBucket" : "\(bucket)",
          "creationTimestamp" : "1795723200000",
          "fileFormat" : "\(format)",
          "fileSchema" : "\(schema)",
          "files" : [ {"key" : "x/bucket/id/data/part-1.csv.gz", "size" : \(csv.count), "MD5checksum" : "\(md5 ?? String(sum))"} ]
        }
        """.utf8))
    return manifest
  }

  private func push(_ options: String..., to destination: String = "s3://bucket/in/") throws -> BuiltProgram.Outcome {
    scene.bucket.forget()
    let endpoint = destination.hasPrefix("s3") ? ["--endpoint-url", server.url] : []
    return try scene.run(["push", root + "/source", destination] + endpoint + options)
  }

  private var received: [String] {
    scene.bucket.targets.map { String($0.dropFirst("bucket/in/".count)) }
  }

  @Test func whatTheInventoryShowsWithTheSameContentIsNotSent() throws {
    let inventory = try writeInventory()
    let plan = try push("--known-at", inventory, "-n")
    #expect(plan.out.contains("would send 5 files") && plan.out.contains("2 at the destination already"), "\(plan.out)")

    let outcome = try push("--known-at", inventory)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(received == ["gone", "kms", "new", "other", "parts"])
    #expect(
      outcome.err.contains("2 files that the destination has already") && outcome.err.contains("2026-11-26T"),
      "\(outcome.err)")
    // The ledger holds what was sent, and nothing about the others.
    let listed = try program.run("list", "files", "--store", root + "/l.db", "--json").out
    #expect(listed.contains("in/other") && !listed.contains("in/same"))

    // What this ledger has sent is its own knowledge; what the inventory shows is compared again.
    try writeFile(root + "/source/same", Array("HALLO".utf8))
    let again = try push("--known-at", inventory, "--json")
    #expect(
      received == ["same"] && again.out.contains("\"known\":1") && again.out.contains("\"unchanged\":5"), "\(again.out)"
    )
  }

  @Test func anEqualSizeSufficesOnlyIfAsked() throws {
    let outcome = try push("--known-at", try writeInventory(), "--known-by", "size")
    #expect(outcome.code == 0 && received == ["gone", "new"], "\(outcome.err)")
  }

  @Test func listsWithoutInventoryAreRelativeToTheDestination() throws {
    for (name, text) in [
      ("plain.csv", "path,size,md5\r\nsame,5,\(Self.hello)\r\n"),
      ("packed.csv.gz", "path,size,md5\r\nsame,5,\(Self.hello)\r\n"),
    ] {
      try writeFile(root + "/" + name, name.hasSuffix("gz") ? Self.compressed(text) : Array(text.utf8))
      #expect(
        try push("--known-at", root + "/" + name, "-n", "-v").out.contains("1 at the destination already"), "\(name)")
    }
    let outcome = try push("--known-at", root + "/packed.csv.gz", to: server.url + "/up/")
    #expect(outcome.code == 0 && !scene.bucket.targets.contains("up/same"), "\(outcome.err)")
    #expect(scene.bucket.targets.contains("up/other") && scene.bucket.targets.count == 6)
  }

  /// A list of files to send says where they are: a file is not known because another key has the path of its source.
  @Test func theKeyOfALineIsWhatTheDestinationHas() throws {
    let text = "path,key,size,md5\nsame,x/same,5,\(Self.hello)\nelsewhere,gone,5,\(Self.hello)\n"
    try writeFile(root + "/sent.csv", Array(text.utf8))
    let outcome = try push("--known-at", root + "/sent.csv")
    #expect(outcome.code == 0 && received.contains("same") && !received.contains("gone"), "\(received) \(outcome.err)")
  }

  /// Files that are there count as delivered: not everything has failed.
  @Test func aFailureBesideKnownFilesIsPartial() throws {
    try writeFile(root + "/list", Array("same\nabsent\n".utf8))
    try writeFile(root + "/there.csv", Array("path,size,md5\nsame,5,\(Self.hello)\n".utf8))
    let outcome = try push(
      "--files-from", root + "/list", "--base", root + "/source", "--missing", "skip", "--known-at",
      root + "/there.csv", isListed: true)
    #expect(outcome.code == 3 && received == [], "\(outcome.code) \(outcome.err)")
  }

  @Test func aJobLeavesOutWhatItsDestinationHas() throws {
    let config = root + "/config.yaml"
    let text = """
      destinations:
        box: {url: "s3://bucket/in/", endpoint_url: "\(server.url)", known_at: \(try writeInventory())}
      jobs:
        nightly: {from: \(root)/source, to: box}

      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    let outcome = try scene.run(["job", "run", "nightly", "--no-syslog", "--config", config])
    #expect((outcome.code, outcome.out, outcome.err) == (0, "", ""))
    #expect(received == ["gone", "kms", "new", "other", "parts"])
  }

  @Test func anInventoryThatIsNotWholeIsRefused() throws {
    let whole = Self.compressed(Self.rows)
    try expectRefusal(try writeInventory(bucket: "another"), 64, "it lists bucket \"another\"")
    try expectRefusal(try writeInventory(md5: String(Self.hello)), 65, "its size or MD5 is not that in")
    try expectRefusal(try writeInventory(Array(whole.dropLast(9))), 65, "it is cut off")
    var corrupt = whole
    corrupt[whole.count / 2] ^= 0x55
    try expectRefusal(try writeInventory(corrupt), 65, "part-1.csv.gz")
    try expectRefusal(try writeInventory(whole + Array("x".utf8)), 65, "other bytes after its gzip data")
    try expectRefusal(try writeInventory(format: "ORC"), 65, "not CSV")
    try expectRefusal(try writeInventory(schema: "Bucket, Key"), 65, "it has 9 fields, and the fileSchema 2")
    let inventory = try writeInventory()
    unlink(root + "/inventory/data/part-1.csv.gz")
    try expectRefusal(inventory, 66, "\"part-1.csv.gz\" is not here")
    let alone = try push("--known-by", "size")
    #expect(alone.code == 64 && received == [], "\(alone.err)")
  }

  private func expectRefusal(_ inventory: String, _ code: Int32, _ words: String) throws {
    let outcome = try push("--known-at", inventory)
    #expect(outcome.code == code && outcome.err.contains(words), "\(outcome.code) \(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count <= 2 && received == [], "\(outcome.err)")
    #expect(access(root + "/l.db", F_OK) != 0, "something was recorded")
  }

  @Test func anInventoryIsAManifest() throws {
    let inventory = try writeInventory()
    let sums = try program.run("manifest", "convert", inventory, "--to", "jsonl")
    #expect(
      sums.code == 0 && sums.out.contains("{\"path\":\"in/dir/a b+c\",\"size\":5,\"md5\":\"\(Self.hello)\"}"),
      "\(sums.out)")
    #expect(!sums.out.contains("in/gone") && sums.out.contains("{\"path\":\"in/kms\",\"size\":5}"), "\(sums.out)")
    // The keys are paths below a folder that has the name of the prefix.
    try #require(rename(root + "/source", root + "/in") == 0)
    let checked = try program.run("manifest", "check", inventory, "--folder", root)
    #expect(checked.code == 8 && checked.out.contains("in/other") && !checked.out.contains("in/same"), "\(checked.out)")
  }

  /// Each kind of list, compressed, and in two members as `cat a.gz b.gz` makes.
  @Test func compressedListsAreRead() throws {
    let halves = ["same\nother\n", "new\n"]
    let packed = halves.flatMap { Self.compressed($0) }
    try writeFile(root + "/list.gz", packed)
    let pushed = try push("--files-from", root + "/list.gz", "--base", root + "/source", isListed: true)
    #expect(pushed.code == 0 && received == ["new", "other", "same"], "\(pushed.err)")
    for (name, text) in [
      ("SHA256SUMS.gz", String(repeating: "ab", count: 32) + "  x\n"), ("x.jsonl.gz", "{\"path\":\"x\"}\n"),
      ("x.gz", "path,size\nx,1\n"),
    ] {
      try writeFile(root + "/" + name, Self.compressed(text))
      let converted = try program.run("manifest", "convert", root + "/" + name, "--to", "list")
      #expect(converted.code == 0 && converted.out == "x\n", "\(name) \(converted.err)")
    }
    try writeFile(root + "/cut.gz", Array(packed.dropLast(3)))
    let cut = try program.run("manifest", "convert", root + "/cut.gz")
    #expect(cut.code == 65 && cut.err.contains("it is cut off"), "\(cut.err)")
  }

  private func push(_ options: String..., isListed: Bool) throws -> BuiltProgram.Outcome {
    scene.bucket.forget()
    return try scene.run(["push"] + options + ["s3://bucket/in/", "--endpoint-url", server.url])
  }
}
