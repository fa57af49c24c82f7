import Glibc
import Testing
import TransferModel

@testable import TransferLedger
@testable import TransfersCLI

/// `store seal`, `store receipts` and `store check --seal`: output for people and programs, and errors for bad input.
@Suite struct SealCommandTests {
  private let sent: SentFile
  private var program: BuiltProgram { sent.program }
  private var store: String { sent.store }

  init() throws { sent = try SentFile() }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try sent.run(["store"] + words)
  }

  @Test func aSealThatWasKeptIsComparedLater() throws {
    let kept = program.folder.path + "/kept.seal"
    #expect(try run("seal", "-o", kept).code == 0)
    let text = try run("seal").out
    #expect(text.hasPrefix("transfers/") && text.contains("\n\n— transfers/"))
    let checked = try run("check", "--seal", kept)
    #expect(checked.code == 0 && checked.out.contains("the log begins with the"), "\(checked.err)")
    #expect(try run("check", "--seal", kept, "--json").out.contains(#""signature":"valid""#))
    let later = try run("seal", "--json", "--since", kept).out
    #expect(later.contains(#""consistency":{"from_leaves":"#) && later.contains(#""public_key":"transfers/"#))
  }

  @Test func aSealThatDoesNotFitEndsWith7() throws {
    let forged = program.folder.path + "/forged.seal"
    let text = try run("seal").out
    try writeFile(forged, Array(text.replacing("\n", with: "\n1", maxReplacements: 1).utf8))
    let checked = try run("check", "--seal", forged)
    #expect(
      checked.code == 7 && checked.out.contains("I52") && checked.err.contains("store.invariant"), "\(checked.err)")
    #expect(try run("seal", "--since", forged).code == 7)
  }

  @Test(arguments: [["check", "--seal"], ["seal", "--since"]]) func whatIsNoSealEndsWith64(_ words: [String]) throws {
    let wrong = program.folder.path + "/wrong.seal"
    try writeFile(wrong, Array("nonsense".utf8))
    for file in [wrong, program.folder.path + "/absent.seal"] {
      let outcome = try run(words[0], words[1], file)
      #expect(outcome.code == 64 && outcome.err.contains("seal"), "\(outcome.err)")
    }
  }

  @Test func sumsAndBagsNeedNoKey() throws {
    try knowSHA256()
    let sums = try run("receipts", "--sha256sum")
    #expect(sums.code == 0 && sums.out.hasPrefix("00ff  /"), "\(sums.err)")
    let bag = program.folder.path + "/bag"
    let written = try run("receipts", "--bagit", bag, "--json")
    #expect(written.code == 0 && written.out.contains(#""files":1,"folder":"#), "\(written.err)")
    #expect(written.out.contains(#""left_out":0"#))
    #expect(access(store + ".key", F_OK) != 0)
    let version = try readBytes(bag + "/bagit.txt")
    #expect(version == Array("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n".utf8))
    #expect(String(decoding: try readBytes(bag + "/bag-info.txt"), as: UTF8.self).contains(".1\n"))
    #expect(String(decoding: try readBytes(bag + "/manifest-sha256.txt"), as: UTF8.self).hasPrefix("00ff  data/"))
  }

  /// Gives the receipt a digest, as a server that compares a SHA-256 would.
  private func knowSHA256() throws {
    let rules = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'receipt'"
    let db = try Connection(path: store, access: .readWrite)
    for name in try db.rowsOnce(rules, row: { $0.text(0) }) { try db.execute("DROP TRIGGER \(name)") }
    try db.execute("UPDATE receipt SET digest = 'sha256:00ff'")
  }

  /// Neither an empty list nor an empty bag looks like a success.
  @Test func withoutASHA256NothingIsWritten() throws {
    let bag = program.folder.path + "/bag"
    for words in [["--sha256sum"], ["--bagit", bag]] {
      let outcome = try sent.run(["store", "receipts"] + words)
      #expect(outcome.code == 9 && outcome.out.isEmpty, "\(outcome.err)")
      #expect(outcome.err.contains("1 file without a known SHA-256") && outcome.err.contains("transfers manifest"))
    }
    #expect(access(bag, F_OK) != 0)
    #expect(try run("receipts", "--sha256sum", "--path", "nothing").code == 0)
  }

  @Test func aCertificateWithoutSubjectsIsNamed() throws {
    let outcome = try sent.run(["prove", "-o", program.folder.path + "/certificate.json"])
    #expect(outcome.code == 0 && outcome.err.contains("no subjects"), "\(outcome.err)")
  }

  @Test func receiptsBelongToASealThatWasKept() throws {
    let kept = program.folder.path + "/kept.seal"
    #expect(try run("seal", "-o", kept).code == 0)
    unlink(store + ".key")
    let proven = try run("receipts", "--seal", kept, "--json")
    let note = String(decoding: try readBytes(kept), as: UTF8.self).replacing("\n", with: #"\n"#)
    #expect(
      proven.code == 0 && proven.out.contains(note) && proven.out.contains(#""public_key":null"#), "\(proven.err)")
    #expect(access(store + ".key", F_OK) != 0)
    let forged = program.folder.path + "/forged.seal"
    try writeFile(
      forged, Array(note.replacing(#"\n"#, with: "\n").replacing("\n", with: "\n1", maxReplacements: 1).utf8))
    #expect(try run("receipts", "--seal", forged).code == 7)
    #expect(try run("receipts", "--seal", kept, "--sha256sum").code == 64)
  }

  @Test func anAuditorGivesTheKey() throws {
    let kept = program.folder.path + "/kept.seal"
    let sealed = try run("seal", "--json").out
    #expect(try run("seal", "-o", kept).code == 0)
    let key = String(try #require(sealed.split(separator: #""public_key":""#).dropFirst().first).prefix { $0 != "\"" })
    unlink(store + ".key")
    #expect(try run("check", "--seal", kept, "--key", key, "--json").out.contains(#""signature":"valid""#))
    #expect(try run("check", "--seal", kept, "--json").out.contains(#""signature":"unknown""#))
    #expect(try run("check", "--seal", kept, "--key", "nonsense").code == 64)
    #expect(try run("check", "--key", key).code == 64)
  }

  @Test func aSealInMarkdownKeepsItsLines() throws {
    let lines = try run("seal", "--format", "markdown").out.split(separator: "\n")
    #expect(
      lines.contains { $0.hasPrefix("    transfers/") } && lines.contains { $0.hasPrefix("    \u{2014} transfers/") })
  }

  @Test func receiptsCarryTheirProof() throws {
    let document = try run("receipts", "--json").out
    #expect(document.contains(#""proof":"c2sp.org/tlog-proof@v1\nindex "#) && document.contains(#""leaf_bytes":"m"#))
    #expect(document.contains(#""summary":{"head":"#))
    #expect(try run("receipts", "--format", "csv").out.split(separator: "\n")[0].hasPrefix("file,n,finding,bytes"))
    #expect(try run("receipts", "--path", "nothing").out == "no receipts\n")
    #expect(try run("receipts", "--sha256sum", "--json").code == 64)
  }
}
