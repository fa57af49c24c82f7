import Glibc
import Testing
import TransferModel

@testable import TransferLedger
@testable import TransfersCLI

/// `transfers prove`: the result, its exit code and the certificate.
@Suite struct ProveCommandTests {
  private let sent: SentFile
  private var program: BuiltProgram { sent.program }
  private var store: String { sent.store }

  init() throws { sent = try SentFile() }

  private func prove(_ words: String...) throws -> BuiltProgram.Outcome {
    try sent.run(["prove"] + words)
  }

  @Test func whatWasSentIsProven() throws {
    let proven = try prove()
    #expect(proven.code == 0 && proven.out == "1 file: 1 done; nothing is lost, and the log agrees\n", "\(proven.err)")
    let figures =
      #""bytes":7,"cancelled":0,"done":1,"excluded":0,"failed":0,"files":1,"known":0,"not_ready":0,"ok":true"#
    #expect(try prove("--json").out.contains(figures))
    #expect(access(store + ".key", F_OK) != 0)
  }

  @Test func aCertificateIsWritten() throws {
    let path = program.folder.path + "/certificate.json"
    let proven = try prove("-o", path)
    #expect(proven.code == 0 && proven.out.isEmpty && proven.err.contains("1 done"), "\(proven.err)")
    let text = String(decoding: try readBytes(path), as: UTF8.self)
    #expect(text.contains(#""payloadType":"application/vnd.in-toto+json","signatures":[{"keyid":"transfers/"#))
    #expect(try prove("-o", path, "--json").code == 64)
  }

  /// A merged ledger is proven from its rows; the queries would have to be written.
  @Test func aMergedLedgerDoesNotAskDestinations() throws {
    let merged = program.folder.path + "/merged.db"
    #expect(try program.run("store", "merge", merged, store).code == 0)
    let proven = try program.run("prove", "--store", merged)
    #expect(proven.code == 0 && proven.out.contains("1 file: 1 done"), "\(proven.err)")
    let remote = try program.run("prove", "--remote", "--store", merged)
    #expect(remote.code == 7 && remote.err.contains("ask destinations about \"\(merged)\""), "\(remote.err)")
    #expect(remote.err.contains("with each of its shards"), "\(remote.err)")
    let path = program.folder.path + "/merged.json"
    let certified = try program.run("prove", "-o", path, "--store", merged)
    #expect(certified.code == 7 && certified.err.contains("certify \"\(merged)\""), "\(certified)")
    #expect(certified.err.contains("with each of its shards") && access(path, F_OK) != 0, "\(certified.err)")
  }

  @Test func aSelectionOfNothingProvesNothing() throws {
    let path = store + ".none.json"
    for words in [["--path", "*/mistyped/*"], ["--path", "*/mistyped/*", "-o", path]] {
      let proven = try sent.run(["prove"] + words)
      #expect(proven.code == 9 && proven.out.isEmpty && proven.err.contains("no file is selected"), "\(proven.err)")
    }
    #expect(access(path, F_OK) != 0)
  }

  @Test func aShareOfAllFilesIsProven() throws {
    #expect(try prove("--subset", "2/2").out.contains("1 file: 1 done"))
    #expect(try prove("--subset", "1/2").code == 9)
    #expect(try prove("--subset", "3/2").code == 64)
    #expect(try prove("--subset", "2/2", "--json").out.contains(#""filters":{"subset":"2/2"}"#))
  }

  /// An earlier certificate must not look like the result of a proof that found a violation.
  @Test func anEarlierCertificateIsSetAside() throws {
    let path = program.folder.path + "/certificate.json"
    #expect(try prove("-o", path).code == 0)
    let added = try program.run("add", program.folder.path + "/f", "http://127.0.0.1:9/other/", "--store", store)
    #expect(added.code == 0, "\(added.err)")
    let broken = try prove("-o", path)
    #expect(broken.code == 5 && broken.err.contains("is \"\(path).old\" now"), "\(broken.err)")
    #expect(access(path, F_OK) != 0 && access(path + ".old", F_OK) == 0)
  }

  @Test func whatCannotBeAskedEndsWith3() throws {
    let receiver = try RunningReceiver(in: program.folder)
    defer { withExtendedLifetime(receiver) {} }
    let pushed = try program.run("push", program.folder.path + "/f", "form+" + receiver.url + "/in/", "--store", store)
    #expect(pushed.code == 0, "\(pushed.err)")
    let asked = try prove("--remote", "b2")
    #expect(asked.code == 3 && asked.out.contains("cannot tell"), "\(asked.out) \(asked.err)")
    #expect(asked.err.contains("of 1 file of 1 the destination does not tell"), "\(asked.err)")
  }

  /// What a scan saw and did not record is in the proof and in the certificate.
  @Test func whatTheScanLeftOutIsCounted() throws {
    let folder = program.folder.path + "/seen"
    mkdir(folder, 0o700)
    for name in ["a", "b.ok", "c.tmp", "d", "e"] { try writeFile("\(folder)/\(name)", Array("content".utf8)) }
    for name in ["a.ok", "d.ok", "e.ok"] { try writeFile("\(folder)/\(name)", []) }
    #expect(mkfifo(folder + "/pipe", 0o600) == 0 && unlink(folder + "/d.ok") == 0)
    let receiver = try RunningReceiver(in: program.folder)
    defer { withExtendedLifetime(receiver) {} }
    let list = program.folder.path + "/there.csv"
    try writeFile(list, Array("path,size\ne,7\n".utf8))
    let words = [
      "push", folder, receiver.url + "/in/", "--exclude", "*.tmp", "--ready-file", "{path}.ok", "--known-at", list,
      "--known-by", "size",
    ]
    let pushed = try sent.run(words)
    #expect(pushed.code == 0, "\(pushed.err)")
    let path = program.folder.path + "/certificate.json"
    let proven = try prove("b2", "-o", path)
    #expect(proven.err.contains("1 file: 1 done; nothing is lost, and the log agrees; "), "\(proven.err)")
    #expect(
      proven.err.contains("the last scan left out 1 excluded, 1 not ready, 1 special, 1 by a list"), "\(proven.err)")
    let envelope = try readText(path)
    let behind = try #require(envelope.split(separator: #""payload":""#, maxSplits: 1).last)
    let statement = try #require(bytesFromBase64(String(behind.prefix { $0 != "\"" })))
    let counts = #""left_out":{"excluded":1,"known":1,"not_ready":1,"refused":0,"scans":1,"special":1}"#
    #expect(String(decoding: statement, as: UTF8.self).contains(counts))
    // Of another place, for which nothing was left out.
    let other = try prove("b1")
    #expect(other.out == "1 file: 1 done; nothing is lost, and the log agrees\n", "\(other.out)")
  }

  /// A file that has to be sent is no mismatch, but not proven either.
  @Test func anUnfinishedFileEndsWith5AndLeavesNoCertificate() throws {
    let added = try program.run("add", program.folder.path + "/f", "http://127.0.0.1:9/other/", "--store", store)
    #expect(added.code == 0, "\(added.err)")
    let path = program.folder.path + "/certificate.json"
    let broken = try prove("-o", path)
    #expect(broken.code == 5 && broken.err.contains("is pending"), "\(broken.err)")
    #expect(broken.err.contains("of 2 files 1 not finished; nothing contradicts the others"), "\(broken.err)")
    #expect(access(path, F_OK) != 0)
    #expect(try prove("--state", "done").code == 0)
  }

  /// A receipt that contradicts its server is a violation, also beside an unfinished file.
  @Test func aViolationEndsWith8() throws {
    let added = try program.run("add", program.folder.path + "/f", "http://127.0.0.1:9/other/", "--store", store)
    #expect(added.code == 0, "\(added.err)")
    let db = try Connection(path: store, access: .readWrite)
    let rules = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'receipt'"
    for name in try db.rowsOnce(rules, row: { $0.text(0) }) { try db.execute("DROP TRIGGER \(name)") }
    try db.execute("UPDATE receipt SET confirmation = 'digest', digest = 'md5:00', remote_digest = 'md5:01'")
    let broken = try prove()
    #expect(broken.code == 8 && broken.out.contains("digests of its receipt differ"), "\(broken.err)")
  }
}
