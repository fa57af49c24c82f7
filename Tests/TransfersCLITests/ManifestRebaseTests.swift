import Glibc
import Testing

@testable import TransfersCLI

/// `transfers manifest rebase`.
@Suite struct ManifestRebaseTests {
  private let program: BuiltProgram

  init() throws { program = try BuiltProgram() }

  @Test func pathsAreRebased() throws {
    let lines = [
      #"{"path":"a/x","size":1}"#, #"{"path":"ab","size":2}"#, #"{"path":"a/b/y","url":"https://h/y"}"#,
    ]
    func rebase(_ lines: [String], _ options: String...) throws -> BuiltProgram.Outcome {
      try program.run(
        (["manifest", "rebase", "-", "--list-format", "jsonl"] + options).map { Array($0.utf8) },
        input: lines.map { $0 + "\n" }.joined())
    }
    let outside = try rebase(lines, "--from", "a", "--to", "c/d")
    #expect(outside.code == 65 && outside.err.contains("line 2: \"ab\" is not below"), "\(outside.err)")
    let kept = try rebase(lines, "--from", "a/", "--to", "c/d", "--keep-others")
    #expect(
      kept.out.split(separator: "\n").dropFirst().dropLast() == [
        #"{"path":"c/d/x","url":"a/x","size":1}"#, #"{"path":"ab","size":2}"#,
        #"{"path":"c/d/b/y","url":"https://h/y"}"#,
      ], "\(kept.out)\(kept.err)")
    #expect(try rebase([lines[0]], "--from", "a", "--to", ".", "--form", "list").out == "x\n")
    #expect(try rebase([lines[0]], "--from", ".", "--to", "z", "--form", "list").out == "z/a/x\n")
    // Without its URL the file would be fetched from somewhere else. A line that was rebased before has a URL, too.
    for form in ["list", "list0", "sums"] {
      for line in [lines[2], #"{"path":"a/x","url":"old/x"}"#] {
        let refused = try rebase([line], "--from", "a", "--to", "z", "--form", form)
        #expect(refused.code == 65 && refused.err.contains("has a URL"), "\(refused.err)")
        #expect(refused.err.contains("give --form jsonl or --form csv"), "\(refused.err)")
      }
    }
    // Two files would get one path.
    let same = try rebase([lines[0], #"{"path":"b/x"}"#], "--from", "a", "--to", "b", "--keep-others")
    #expect(same.code == 65 && same.err.contains("line 2: \"b/x\" is in line 1, too"), "\(same.err)")
    // The folder itself is not a file below it.
    #expect(try rebase([lines[1]], "--from", "ab", "--to", "z").code == 65)
    for wrong in [
      ["--from", "a", "--to", "../x"], ["--from", "", "--to", "x"], ["--from", "a//./b", "--to", "x"],
      ["--from", "a", "--to", "/x"], ["--from", "/a", "--to", "x"], ["--from", "a", "--to", "/"],
    ] {
      let refused = try program.run((["manifest", "rebase", "-"] + wrong).map { Array($0.utf8) }, input: "")
      #expect(refused.code == 64, "\(wrong) \(refused.err)")
    }
  }
}
