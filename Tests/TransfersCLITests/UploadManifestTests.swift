import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Lists of files to send that are manifests: keys, properties of objects, sizes and digests by column. Judged by what
/// the server received.
@Suite struct UploadManifestTests {
  private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  private let scene: BucketScene
  private var program: BuiltProgram { scene.program }
  private var seen: BucketScene.Bucket { scene.bucket }
  private var server: ScriptedServer { scene.server }
  private var root: String { scene.root }
  private let keys = BucketScene.keys

  init() throws {
    let files = ["a.bam": "hello", "b.csv": "hello", "sub/c": "hello"]
    scene = try BucketScene(folders: ["source/sub"], files: files)
  }

  private func push(
    _ name: String, _ text: String, _ options: String..., to destination: String? = nil, verb: String = "push",
    input: String? = nil
  ) throws -> BuiltProgram.Outcome {
    seen.forget()
    let list = root + "/" + name
    if input == nil { try writeFile(list, Array(text.utf8)) }
    let place = destination.map { [$0] } ?? ["s3://bucket/in/", "--endpoint-url", server.url]
    let words = [verb, "--files-from", input == nil ? list : "-", "--base", root + "/source"] + place + options
    return try scene.run(words, input: input)
  }

  private var received: [String: [String: String]] { seen.requests.withLock(\.self) }

  @Test func eachFileHasWhatItsLineSays() throws {
    let text = """
      {"path":"a.bam","key":"x/y.bam","size":5,"sha256":"\(Self.hello)","content_type":"application/x-bam","storage_class":"GLACIER","header.Cache-Control":"no-store","tag.Run":42,"tag.kind":"raw data"}
      {"path":"b.csv","storage_class":null}
      {"path":"sub/c","content_type":"auto"}

      """
    let plan = try push("m.jsonl", text, "-n")
    #expect(plan.code == 0 && plan.out.contains("in/x/y.bam") && received.isEmpty, "\(plan.out)\(plan.err)")
    // The column has precedence over the rule.
    let outcome = try push("m.jsonl", text, "--rule", "**:storage_class=STANDARD_IA", "--rule", "*.bam:tag.kind=x")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(received.keys.sorted() == ["bucket/in/b.csv", "bucket/in/sub/c", "bucket/in/x/y.bam"])
    let (bam, csv) = (try #require(received["bucket/in/x/y.bam"]), try #require(received["bucket/in/b.csv"]))
    #expect(bam["content-type"] == "application/x-bam" && bam["x-amz-storage-class"] == "GLACIER")
    #expect(bam["cache-control"] == "no-store" && bam["x-amz-tagging"] == "Run=42&kind=raw%20data")
    #expect(csv["x-amz-storage-class"] == "STANDARD_IA" && csv["x-amz-tagging"] == nil && csv["cache-control"] == nil)
  }

  @Test func tablesServeOtherProtocols() throws {
    let text = "path,key,content_type,header.X-Run\r\na.bam,\"one, two\",text/plain,7\r\nb.csv,,,\r\n"
    for scheme in ["http", "dav+http"] {
      let folder = scheme == "http" ? "up" : "dav"
      let outcome = try push("m.csv", text, to: server.url.replacing("http:", with: scheme + ":") + "/\(folder)/")
      #expect(outcome.code == 0, "\(outcome.err)")
      let one = try #require(received["\(folder)/one%2C%20two"], "\(received.keys)")
      #expect(one["content-type"] == "text/plain" && one["x-run"] == "7")
      #expect(received["\(folder)/b.csv"]?["x-run"] == nil && received["\(folder)/b.csv"] != nil)
    }
    let refused = try push("m.csv", "path,storage_class\r\nb.csv,\r\na.bam,GLACIER\r\n", to: server.url + "/other/")
    #expect(
      refused.code == 65 && refused.err.contains("line 3: this destination has no storage_class"), "\(refused.err)")
    #expect(received.isEmpty)
  }

  @Test func aFileThatIsNotTheListedOneFailsAlone() throws {
    let other = String(repeating: "0", count: 64)
    let text = "path,size,digest\na.bam,6,\nb.csv,5,sha256:\(Self.hello)\nsub/c,,sha256:\(other)\n"
    let plan = try push("m.csv", text, "--dry-run")
    #expect(plan.out.contains("would send 1 file") && plan.out.contains("2 failed"), "\(plan.out)")
    let outcome = try push("m.csv", text)
    #expect(outcome.code == 3 && received.keys.sorted() == ["bucket/in/b.csv"], "\(outcome.code) \(outcome.err)")
    #expect(outcome.err.contains("it has 5 bytes, and 6 in the list (line 2)"), "\(outcome.err)")
    #expect(outcome.err.contains("its sha256 is not that in the list (line 4)"), "\(outcome.err)")
    let failed = try program.run("list", "files", "--state", "failed", "--store", root + "/l.db", "--json").out
    #expect(
      failed.contains("source.mismatch") && failed.contains("in/sub/c") && !failed.contains("b.csv"), "\(failed)")
    // Nothing was sent, so nothing arrived corrupted; and it means the same to each command.
    let run = try program.run(["run", "--store", root + "/l.db"].map { Array($0.utf8) }, environment: keys)
    #expect(run.code == 3 && !run.err.contains("corrupted"), "\(run.code) \(run.err)")
    // With the right line it is sent.
    let again = try push("m.csv", "path,size\na.bam,5\n")
    #expect(again.code == 0 && received.keys.sorted() == ["bucket/in/a.bam"], "\(again.err)")
  }

  /// What changes after the comparison, while it waits, settles or is sent, was not compared: the list decides again.
  @Test(arguments: [[], ["--settle", "50ms"], ["--settle", "50ms", "--stage"]])
  func aFileThatChangesAfterTheComparisonIsNotSent(_ options: [String]) throws {
    try writeFile(root + "/m.csv", Array("path,size,sha256\na.bam,5,\(Self.hello)\nb.csv,,\nsub/c,5,\n".utf8))
    let added = try listed("add", options)
    #expect(added.code == 0, "\(added.err)")
    for name in ["a.bam", "b.csv", "sub/c"] { try writeFile("\(root)/source/\(name)", Array("HELLO".utf8)) }
    let run = try program.run(["run", "--store", root + "/l.db"].map { Array($0.utf8) }, environment: keys)
    // Of b.csv the list says no content: the newest is sent.
    #expect(run.code == 3 && received.keys.sorted() == ["bucket/in/b.csv"], "\(received.keys) \(run.err)")
    let failed = try program.run("list", "files", "--state", "failed", "--store", root + "/l.db", "--json").out
    for words in ["source.changed", "in/a.bam", "in/sub/c"] { #expect(failed.contains(words), "\(failed)") }
    // The list still means the other content of one of them; the other fits it again.
    seen.requests.withLock { $0 = [:] }
    let again = try listed("push", options)
    #expect(again.code == 3 && received.keys.sorted() == ["bucket/in/sub/c"], "\(received.keys) \(again.err)")
    #expect(again.err.contains("its sha256 is not that in the list (line 2)"), "\(again.err)")
  }

  private func listed(_ verb: String, _ options: [String]) throws -> BuiltProgram.Outcome {
    let words = [verb, "--files-from", root + "/m.csv", "--base", root + "/source", "s3://bucket/in/"] + options
    return try program.run(
      (words + ["--endpoint-url", server.url, "--store", root + "/l.db"]).map { Array($0.utf8) }, environment: keys)
  }

  @Test func checksumFilesAreComparedBeforeFilesAreSent() throws {
    let outcome = try push("SHA256SUMS", "\(Self.hello)  a.bam\n\(String(repeating: "0", count: 64))  b.csv\n")
    #expect(outcome.code == 3 && received.keys.sorted() == ["bucket/in/a.bam"], "\(outcome.err)")
  }

  @Test(arguments: [
    ("m.csv", "path,contenttype\na.bam,text/plain\n", "line 1: unknown column or member \"contenttype\""),
    ("m.jsonl", "{\"path\":\"a.bam\",\"tags\":\"x\"}\n", "line 1: unknown column or member \"tags\""),
    ("m.jsonl", "{\"path\":\"a.bam\",\"tag.x\":[1]}\n", "line 1: its \"tag.x\" is not a text"),
    ("m.csv", "path,url\na.bam,https://h/x\n", "line 2: it has a URL"),
    ("m.csv", "path,header.authorization\nb.csv,\na.bam,x\n", "line 3: its header.authorization: it may be a secret"),
    ("m.csv", "path,content_type\na.bam,nonsense\n", "is not a media type"),
    ("m.csv", "path,key\na.bam,../x\n", "its key: "),
    ("m.csv", "path,key\na.bam,x\nb.csv,x\n", "x"),
    ("m.jsonl", "{\"manifest\":\"transfers.manifest/1\"}\n{\"path\":\"a.bam\"}\n", "cut off"),
  ])
  func aListThatIsWrongIsRefusedAsAWhole(_ name: String, _ text: String, _ words: String) throws {
    let outcome = try push(name, text)
    #expect([64, 65].contains(outcome.code) && outcome.err.contains(words), "\(outcome.code) \(outcome.err)")
    #expect(received.isEmpty && !outcome.err.contains("secret-key"))
  }

  /// A server would refuse each of these files.
  @Test func tagsOfRulesAndColumnsTogetherAreLimited() throws {
    let columns = "abcdefghi".map { "tag.\($0)" }.joined(separator: ",")
    let text = "path,\(columns)\nb.csv,,,,,,,,,\na.bam,1,1,1,1,1,1,1,1,1\n"
    let refused = try push("m.csv", text, "--rule", "**:tag.x=1", "--rule", "**:tag.y=1")
    #expect(refused.code == 65 && refused.err.contains("line 3: with those of --rule its object has 11 tags"))
    #expect(received.isEmpty)
    // A column in place of a rule does not add to them.
    let sent = try push("m.csv", text, "--rule", "**:tag.x=1", "--rule", "**:tag.a=2")
    #expect(sent.code == 0 && received.count == 2, "\(sent.err)")
  }

  /// Without a name that says so, only our own first record makes a list a manifest.
  @Test func plainListsStayLiteral() throws {
    try writeFile(root + "/source/{\"path\":1}", [1])
    let plain = try push("list", "{\"path\":1}\na.bam\n")
    #expect(plain.code == 0 && received.count == 2, "\(plain.err)")
    let manifest = try program.run("manifest", "build", root + "/source/sub").out
    let piped = try push("", "", "--base", root + "/source/sub", to: server.url + "/up/", input: manifest)
    #expect(piped.code == 0 && received.keys.sorted() == ["up/c"], "\(piped.err)")
    let forced = try push("list", "path\tkey\na.bam\tz\n", "--list-format", "csv", verb: "add")
    #expect(forced.code == 0, "\(forced.err)")
    #expect(try program.run("list", "files", "--store", root + "/l.db", "--json").out.contains("in/z"))
    #expect(try push("list", "a.bam\n", "--list-format", "metalink").code == 64)
  }

  /// The parts of a manifest keep its columns.
  @Test func conversionKeepsKeysAndProperties() throws {
    try writeFile(root + "/m.csv", Array("path,key,tag.Run\na.bam,k,7\n".utf8))
    let converted = try program.run("manifest", "convert", root + "/m.csv")
    #expect(converted.out.contains("{\"path\":\"a.bam\",\"key\":\"k\",\"tag.Run\":\"7\"}"), "\(converted.out)")
    let list = try program.run("manifest", "convert", root + "/m.csv", "--to", "list")
    #expect(list.out == "a.bam\n" && list.err.contains("left out the keys and properties of 1 files"), "\(list.err)")
  }

  @Test func aJobReadsAManifest() throws {
    let config = root + "/config.yaml"
    try writeFile(root + "/m.csv", Array("path,tag.Run\na.bam,7\n".utf8))
    let text = """
      jobs:
        nightly: {files_from: \(root)/m.csv, base: \(root)/source, to: "s3://bucket/in/", endpoint_url: "\(server.url)"}

      """
    try writeFile(config, Array(text.utf8))
    chmod(config, 0o600)
    let outcome = try program.run(
      ["job", "run", "nightly", "--no-syslog", "--config", config, "--store", root + "/l.db"].map { Array($0.utf8) },
      environment: keys)
    #expect((outcome.code, outcome.err) == (0, ""))
    #expect(received["bucket/in/a.bam"]?["x-amz-tagging"] == "Run=7")
  }
}
