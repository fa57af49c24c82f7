import Glibc
import Testing
import TransferModel
import TransferProtocols

/// `--record-sha256` with the real program and the bundled server, judged by `sha256sum` of coreutils.
@Suite struct RecordedSHA256Tests {
  private let scene: ReceiverScene
  private var receiver: RunningReceiver { scene.receiver }
  private var folder: String { scene.folder }

  init() throws {
    scene = try ReceiverScene(script: "match PATCH * nth=1 : cut-after=100000\n")
    mkdir(scene.folder + "/back", 0o700)
    // Empty; sent from memory; sent from the file.
    for (name, size) in [("empty", 0), ("small", 1_000), ("long", 300_000)] {
      try writeFile("\(scene.folder)/in/\(name)", Self.content(size))
    }
  }

  private static func content(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) } }

  private func transfers(_ words: String...) throws -> BuiltProgram.Outcome { try scene.transfers(words) }

  /// What `sha256sum -c` says about the lines that `store receipts --sha256sum` prints.
  private func checked() throws -> [String] {
    let sums = try transfers("store", "receipts", "--sha256sum")
    #expect(sums.code == 0, "\(sums.err)")
    try writeFile(folder + "/sums", Array(sums.out.utf8))
    guard let pipe = popen("LC_ALL=C sha256sum -c \(folder)/sums 2>/dev/null", "r") else {
      throw SystemFailure("popen")
    }
    defer { pclose(pipe) }
    var bytes: [UInt8] = []
    for byte in sequence(first: fgetc(pipe), next: { _ in fgetc(pipe) }) {
      guard byte != EOF else { break }
      bytes.append(UInt8(truncatingIfNeeded: byte))
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return lines.map { String($0).replacing(folder + "/", with: "") }.sorted()
  }

  private func receipts() throws -> [String] {
    let rows = try transfers("store", "sql", "SELECT sha256 IS NOT NULL FROM v_receipts", "--format", "tsv")
    return rows.out.split(separator: "\n").dropFirst().map(String.init)
  }

  @Test func everyUploadHasASHA256() throws {
    #expect(try transfers("push", folder + "/in", receiver.url + "/up/", "--record-sha256").code == 0)
    #expect(try checked() == ["in/empty: OK", "in/long: OK", "in/small: OK"])
    #expect(try receipts() == ["1", "1", "1"])
    try writeFile(folder + "/in/long", Self.content(299_999) + [1])
    #expect(try checked() == ["in/empty: OK", "in/long: FAILED", "in/small: OK"])
    let bag = try transfers("store", "receipts", "--bagit", folder + "/bag")
    #expect(bag.code == 0, "\(bag.err)")
    #expect(try readText(folder + "/bag/manifest-sha256.txt").split(separator: "\n").count == 3)
    let proof = try transfers("prove", "-o", folder + "/proof.json")
    #expect(proof.code == 0 && !proof.err.contains("without a known SHA-256"), "\(proof.err)")
    #expect(try statement().components(of: #""sha256":""#) == 3)
    #expect(try transfers("store", "check").code == 0)
  }

  /// The signed statement of the certificate.
  private func statement() throws -> String {
    let envelope = try readText(folder + "/proof.json")
    let behind = try #require(envelope.split(separator: #""payload":""#, maxSplits: 1).last)
    return String(
      decoding: try #require(bytesFromBase64(String(behind.prefix { $0 != "\"" }))), as: UTF8.self)
  }

  @Test func withoutTheOptionTheReceiptsHaveNone() throws {
    #expect(try transfers("push", folder + "/in", receiver.url + "/up/").code == 0)
    #expect(try receipts() == ["0", "0", "0"])
    let sums = try transfers("store", "receipts", "--sha256sum")
    #expect(sums.code == 9 && sums.err.contains("--record-sha256"), "\(sums.err)")
  }

  /// Parts in parallel: the file is read once more.
  @Test func aFileInPartsHasASHA256() throws {
    let words = ["--via", "numbered-chunks", "--part-size", "1000", "--record-sha256"]
    #expect(try scene.transfers(["push", folder + "/in", receiver.url + "/-/chunks"] + words).code == 0)
    #expect(try checked() == ["in/empty: OK", "in/long: OK", "in/small: OK"])
    #expect(try transfers("store", "check").code == 0)
  }

  /// The connection is lost before all of the file is read, and no later request sends all of it.
  @Test func aFileInSeveralRequestsHasASHA256() throws {
    let place = receiver.url.replacing("http:", with: "tus+http:") + "/-/tus/"
    let block = Self.content(65_536)
    try writeFile(folder + "/in/large", (0..<256).flatMap { _ in block })
    let outcome = try transfers("push", folder + "/in/large", place, "--record-sha256")
    #expect(outcome.code == 0, "\(outcome.err)")
    let parts = "SELECT count(*) > 1 AND max(bytes_acked) < 16777216 FROM v_attempts WHERE bytes_acked > 0"
    let sent = try transfers("store", "sql", parts, "--format", "tsv")
    #expect(sent.out.hasSuffix("\n1\n"), "\(sent.out)")
    #expect(try checked() == ["in/large: OK"])
  }

  @Test func aDownloadHasASHA256() throws {
    #expect(try transfers("push", folder + "/in", receiver.url + "/up/").code == 0)
    let names = ["empty", "long", "small"]
    let words: [String] =
      ["pull"] + names.map { receiver.url + "/up/" + $0 } + [folder + "/back", "--record-sha256"]
    #expect(try scene.transfers(words, ledger: "p.db").code == 0)
    rename(folder + "/p.db", folder + "/l.db")
    #expect(try checked() == names.map { "back/\($0): OK" })
  }

  /// A file whose digest a list names is copied from one with which that was only recorded: no request is sent.
  @Test(arguments: [true, false]) func aFileWithARecordedSHA256IsCopied(_ isDownload: Bool) throws {
    #expect(try transfers("push", folder + "/in", receiver.url + "/up/", "--record-sha256").code == 0)
    var ledger = "l.db"
    if isDownload {
      ledger = "p.db"
      let words = ["pull", receiver.url + "/up/long", folder + "/back", "--record-sha256"]
      #expect(try scene.transfers(words, ledger: ledger).code == 0)
    }
    let digest = RunningDigest.of(Self.content(300_000), .sha256).description.dropFirst("sha256:".count)
    try writeFile(folder + "/SHA256SUMS", Array("\(digest)  copy\n".utf8))
    let words = [
      "pull", "--files-from", folder + "/SHA256SUMS", "--base-url", receiver.url + "/nothing/", folder + "/back",
    ]
    let copied = try scene.transfers(words, ledger: ledger)
    #expect(copied.code == 0 && copied.out.contains("already existed locally"), "\(copied.out)\(copied.err)")
    #expect(try readBytes(folder + "/back/copy") == Self.content(300_000))
  }
}

extension String {
  /// How often `part` occurs.
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
