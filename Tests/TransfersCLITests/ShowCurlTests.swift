import Glibc
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

/// `show a77 --curl`: a shell runs the printed script, against a server that records the requests.
@Suite struct ShowCurlTests {
  private final class Collected: Sendable {
    let requests = Lock<[ScriptedServer.Request]>([])
  }

  private static func row(_ destination: String, _ path: NameBytes, size: Int64, auth: String?) -> RequestRow {
    RequestRow(
      attempt: AttemptID(rawValue: 7), operation: .part, outcome: .retry, isRepeatable: true,
      settings: BatchSettings(destination: destination, auth: auth), uid: UID(high: 0x7000, low: 1 << 63), path: path,
      key: NameBytes("in/a b.bin"), size: size, mtimeMs: 0)
  }

  /// Runs the script with `sh` and its own variables: the variables of this process are shared by all tests that run in
  /// parallel. Returns the request that the server received.
  private static func run(_ script: String, _ collected: Collected, _ environment: [String: String]) throws
    -> ScriptedServer.Request?
  {
    let folder = try TemporaryFolder()
    try writeFile(folder.path + "/script", Array(script.utf8))
    let variables = environment.map { "\($0.key)=\($0.value) " }.joined()
    #expect(system("cd \(folder.path) && \(variables)sh ./script >/dev/null 2>&1") == 0, "\(script)")
    return collected.requests.withLock { $0.last }
  }

  private static let names: [[UInt8]] = [
    Array("plain.bin".utf8), Array("it's $(touch x) \"q\" `b` \\ é.bin".utf8),
    Array("\u{1B}[2J\nline\n".utf8), Array("-n %s {a,b}[1-3]".utf8), [0xFF, 0x27, 0x0A],
  ]

  @Test(arguments: names)
  func theShellSendsThePartOfAnyFile(_ name: [UInt8]) throws {
    let (folder, collected) = (try TemporaryFolder(), Collected())
    let server = try ScriptedServer { request in
      collected.requests.withLock { $0.append(request) }
      return ScriptedServer.Reply()
    }
    let path = NameBytes(Array((folder.path + "/").utf8) + name)
    let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    try writeNamed(path.bytes, content)
    for (range, wanted) in [(0..<1000, content), (300..<777, Array(content[300..<777]))] {
      var row = Self.row("\(server.url)/in/", path, size: 1000, auth: "bearer=env:CURL_TEST_TOKEN")
      let bytes = ByteRange(offset: Int64(range.lowerBound), length: Int64(range.count))
      row.chunk = RequestRow.Chunk(seq: 0, range: bytes, remote: [:])
      let script = CurlCommand(row).script
      #expect(!script.utf8.contains(0x1B) && script.contains("Bearer '\"${CURL_TEST_TOKEN}\""), "\(script)")
      let got = try #require(try Self.run(script, collected, ["CURL_TEST_TOKEN": "hush"]))
      #expect(got.method == "PUT" && got.target == "/in/a%20b.bin", "\(got.target)")
      #expect(got.body == wanted && got.headers["authorization"] == "Bearer hush")
    }
  }

  private func writeNamed(_ path: [UInt8], _ content: [UInt8]) throws {
    let descriptor = path.withUnsafeBytes { raw in
      var name = Array(raw.bindMemory(to: CChar.self)) + [0]
      return open(&name, O_WRONLY | O_CREAT, 0o600)
    }
    #expect(descriptor >= 0 && write(descriptor, content, content.count) == content.count)
    close(descriptor)
  }

  @Test func basicCredentialsAndFormsGoAlongToo() throws {
    let (folder, collected) = (try TemporaryFolder(), Collected())
    let server = try ScriptedServer { request in
      collected.requests.withLock { $0.append(request) }
      return ScriptedServer.Reply()
    }
    try writeFile(folder.path + "/f", Array("content".utf8))
    try writeFile(folder.path + "/secret", Array("me:hush".utf8))
    var row = Self.row(
      "form+\(server.url)/in", NameBytes(folder.path + "/f"), size: 7, auth: "basic=file:\(folder.path)/secret")
    row.isRepeatable = false
    row.chunk = RequestRow.Chunk(seq: 0, range: ByteRange(offset: 0, length: 7), remote: [:])
    let script = CurlCommand(row).script
    #expect(script.hasPrefix("# sending this again may store its content twice") && !script.contains("hush"))
    let got = try #require(try Self.run(script, collected, [:]))
    #expect(got.method == "POST" && got.headers["authorization"] == "Basic bWU6aHVzaA==")
    #expect(got.headers["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    #expect(String(decoding: got.body, as: UTF8.self).contains("\r\n\r\ncontent\r\n--"))
  }

  /// Somebody else may have written the ledger, with references that a shell would execute.
  @Test(arguments: ["bearer=env:X}$(id>&2)", "basic=env:X}`id`", "bearer=env:A-B", "bearer=env:1X"])
  func referencesToWhatIsNoVariableAreNotPrinted(_ auth: String) throws {
    var row = Self.row("http://host/in/", NameBytes("/d/f"), size: 9, auth: auth)
    row.chunk = RequestRow.Chunk(seq: 0, range: ByteRange(offset: 0, length: 9), remote: [:])
    let found = CurlCommand(row)
    #expect(found.command == nil && !found.remarks.isEmpty, "\(found.script)")
    #expect(!found.script.split(separator: "\n").contains { !$0.hasPrefix("#") }, "\(found.script)")
  }

  /// The URL of an upload works as a secret.
  @Test(arguments: ["tus+http://host/up/", "resumable+http://host/up/"])
  func urlsOfUploadsAreVariables(_ destination: String) throws {
    var row = Self.row(destination, NameBytes("/d/f"), size: 9, auth: nil)
    row.chunk = RequestRow.Chunk(seq: 0, range: ByteRange(offset: 0, length: 9), remote: [:])
    row.session = RequestRow.Session(id: 4, remoteID: "http://host/up/a-secret-place", notes: [:])
    let known = CurlCommand(row).script
    #expect(known.contains("\"$UPLOAD_URL\"") && !known.contains("a-secret-place"), "\(known)")
    #expect(known.contains("session s4"))
    row.chunk?.remote = ["url": "http://host/up/another-secret-place"]
    #expect(!CurlCommand(row).script.contains("another-secret-place"))
    row.session?.remoteID = nil
    #expect(CurlCommand(row).script.contains("$UPLOAD_URL works as a secret and is not printed; is no longer known"))
  }

  /// A download only reads, whatever its request is called.
  @Test(arguments: [AttemptOperation.create, .part]) func aDownloadChangesNothing(_ operation: AttemptOperation) throws
  {
    var row = Self.row("http://host/", NameBytes("/d/f"), size: 9, auth: nil)
    row.settings = BatchSettings(destination: "http://host/", download: DownloadSettings(folder: NameBytes("/d")))
    row.operation = operation
    row.session = RequestRow.Session(id: 4, remoteID: nil, notes: [:])
    if operation == .part { row.chunk = RequestRow.Chunk(seq: 0, range: ByteRange(offset: 0, length: 9), remote: [:]) }
    let script = CurlCommand(row).script
    #expect(script.contains("--request GET") && script.contains("--output a7.part"), "\(script)")
    for word in ["changes data", "create request", "UPLOAD_URL"] { #expect(!script.contains(word), "\(script)") }
  }

  @Test func s3IsSignedAnewByCurl() throws {
    let store = try ReadingTests.shared.get().store
    let outcome = try BuiltProgram().run("show", "a3", "--curl", "--store", store)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.contains("--aws-sigv4 aws:amz:") && outcome.out.contains("partNumber="), "\(outcome.out)")
    #expect(outcome.out.contains("$AWS_SECRET_ACCESS_KEY") && !outcome.out.contains("Signature="))
    let other = try BuiltProgram().run("show", "f1", "--curl", "--store", store)
    #expect(other.code == 64 && other.err.contains("--curl is for an attempt"))
  }
}
