import Glibc
import Testing
import TransferModel

@testable import Transfers

/// Files that are named in settings: secrets and certificate authorities.
@Suite struct NamedFileTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var here: String {
    var buffer = [CChar](repeating: 0, count: 4096)
    return getcwd(&buffer, buffer.count).map { String(cString: $0) } ?? ""
  }

  @Test func whatIsRecordedDoesNotDependOnTheWorkingFolder() throws {
    let target = try UploadTarget(BatchSettings(destination: "http://h/", auth: "bearer=file:./token"))
    #expect(target.settings.auth == "bearer=file:\(here)/token")
    let rooted = try UploadTarget(BatchSettings(destination: "http://h/", auth: "basic=env:X"))
    #expect(rooted.settings.auth == "basic=env:X")
    var settings = BatchSettings(destination: "http://h/", caFile: "ca.pem")
    settings.profile = ProfileSettings(name: "p", text: "")
    settings.profile?.secrets = ["a": "file:x", "b": "env:X", "c": "file:/x"]
    let all = try settings.rooted()
    #expect(all.caFile == here + "/ca.pem")
    #expect(all.profile?.secrets == ["a": "file:\(here)/x", "b": "env:X", "c": "file:/x"])
  }

  @Test(
    arguments: [
      (nil, "cannot be read: no such file or directory"), ("", "is empty"), ("\n\n", "is empty"),
      ("a\nb\n", "has 2 lines; a secret must be one line"), ("secret\n", nil),
    ] as [(String?, String?)])
  func whatIsWrongWithASecretIsSaid(_ text: String?, _ part: String?) throws {
    let path = folder.path + "/token"
    if let text { try writeFile(path, Array(text.utf8)) }
    do throws(Failure) {
      let secret = try SecretReference.file(path).read { false }
      #expect(part == nil)
      #expect(secret == text?.split(separator: "\n").first.map(String.init))
    } catch {
      #expect(error.code == .authMissing)
      #expect(part.map(error.message.contains) ?? false, "\(error.message)")
      #expect(!error.message.contains("secret\n"))
    }
  }

  @Test func aSecretThatIsNoTextIsSaid() throws {
    let path = folder.path + "/token"
    try writeFile(path, [0xFF])
    let failure = #expect(throws: Failure.self) { try SecretReference.file(path).read { false } }
    #expect(failure?.message == "the file \(path) is not UTF-8 text")
  }

  /// Without the check, a device or a pipe without a writer would be read. Nothing in this test can block.
  @Test func onlyRegularFilesAreRead() throws {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    #expect(write(ends[1], "secret\n", 7) == 7)
    close(ends[1])
    defer { close(ends[0]) }
    for path in ["/dev/null", "/dev/fd/\(ends[0])", folder.path] {
      let failure = #expect(throws: Failure.self) { try SecretReference.file(path).read { false } }
      #expect(failure?.code == .authMissing)
      #expect(failure?.message == "the file \(path) cannot be read: it is not a regular file")
      let untrusted = #expect(throws: TransferError.self) { try TrustFile.check(path, namedBy: "--ca-file") }
      #expect(untrusted?.cause == "it cannot be read: it is not a regular file")
      let profile = #expect(throws: TransferError.self) { try ProfileLibrary.text(path) }
      #expect(profile?.cause.hasPrefix("the file cannot be read: it is not a regular file") == true)
    }
  }

  /// The FIFO has no writer.
  @Test func aFIFOIsRefusedAtOnce() throws {
    let path = folder.path + "/fifo"
    #expect(mkfifo(path, 0o600) == 0)
    let ended = Mailbox<String>()
    let reader = WorkerThread {
      do throws(Failure) { ended.put(try SecretReference.file(path).read { false }) } catch { ended.put(error.message) }
    }
    let told = ended.take(timeoutMs: 10_000)?.first
    #expect(told == "the file \(path) cannot be read: it is not a regular file")
    // If the reader still waits for a writer, this unblocks it.
    if told == nil { close(open(path, O_RDWR)) }
    reader.join()
  }

  @Test func aSecretThatIsTooLongIsRefusedAndNotCut() throws {
    let path = folder.path + "/token"
    try writeFile(path, [UInt8](repeating: 0x61, count: 64 << 10))
    #expect(try SecretReference.file(path).read { false }.utf8.count == 64 << 10)
    try writeFile(path, [UInt8](repeating: 0x61, count: (64 << 10) + 1))
    let failure = #expect(throws: Failure.self) { try SecretReference.file(path).read { false } }
    #expect(failure?.message == "the file \(path) is longer than 65536 bytes; it must contain one secret")
  }

  @Test(
    arguments: [
      ("none.pem", nil), ("folder", nil), ("empty.pem", ""), ("key.pem", "-----BEGIN PRIVATE KEY-----\n"),
    ] as [(String, String?)])
  func authoritiesThatCannotBeUsedStartNothing(_ name: String, _ text: String?) throws {
    let path = folder.path + "/" + name
    if let text { try writeFile(path, Array(text.utf8)) } else if name == "folder" { mkdir(path, 0o700) }
    for destination in ["http://h/", "https://h/", "s3://bucket/"] {
      let error = #expect(throws: TransferError.self) {
        try UploadTarget(BatchSettings(destination: destination, caFile: path))
      }
      #expect(error?.kind == .config)
      #expect(error?.operation == "read --ca-file")
      #expect(error?.subject == NameBytes(path))
    }
  }

  @Test func authoritiesThatVanishedBlockTheBatchAtOnce() throws {
    let path = folder.path + "/ca.pem"
    try writeFile(path, Array("# ours\n-----BEGIN CERTIFICATE-----\nMII=\n".utf8))
    let settings = try UploadTarget(BatchSettings(destination: "http://h/", caFile: path)).settings
    let destinations = CurlDestinations()
    defer { destinations.stop() }
    _ = try destinations.resolve(settings)
    unlink(path)
    let error = #expect(throws: TransferError.self) { try destinations.resolve(settings) }
    #expect(error?.kind == .config)
  }
}
