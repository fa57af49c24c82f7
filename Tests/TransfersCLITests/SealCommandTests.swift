import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// `store seal`, `store receipts` and `store check --seal`: what people and programs get, and what bad input is told.
@Suite struct SealCommandTests {
  let program: BuiltProgram
  private let store: String

  init() throws {
    program = try BuiltProgram()
    store = program.folder.path + "/l.db"
    try writeFile(program.folder.path + "/f", Array("content".utf8))
    let receiver = try RunningReceiver(in: program.folder)
    defer { withExtendedLifetime(receiver) {} }
    let pushed = try program.run("push", program.folder.path + "/f", receiver.url + "/in/", "--store", store)
    #expect(pushed.code == 0, "\(pushed.err)")
  }

  private func run(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run((["store"] + words + ["--store", store]).map { Array($0.utf8) })
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

  @Test func receiptsCarryTheirProof() throws {
    let document = try run("receipts", "--json").out
    #expect(document.contains(#""proof":"c2sp.org/tlog-proof@v1\nindex "#) && document.contains(#""leaf_bytes":"m"#))
    #expect(document.contains(#""summary":{"head":"#))
    #expect(try run("receipts", "--format", "csv").out.split(separator: "\n")[0].hasPrefix("file,n,finding,bytes"))
    #expect(try run("receipts", "--path", "nothing").out == "no receipts\n")
    #expect(try run("receipts", "--sha256sum", "--json").code == 64)
    let sums = try run("receipts", "--sha256sum")
    #expect(sums.code == 0 && sums.out.isEmpty && sums.err.contains("1 file without a known SHA-256 left out"))
  }
}
