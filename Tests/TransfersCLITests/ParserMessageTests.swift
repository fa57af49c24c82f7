import Testing

/// Errors of the argument parser have the form of all others: what was wrong, and what is allowed.
@Suite struct ParserMessageTests {
  private let program: BuiltProgram

  init() throws { program = try BuiltProgram() }

  @Test(arguments: [
    (
      "push --rate abc a b",
      #"--rate "abc" is not a rate in bytes per second. Try: --rate 20M (or 500K, 1.5MiB; not bits)"#
    ),
    (
      "run --max-duration 5",
      #"--max-duration "5" needs a unit. Try: --max-duration 90s (or 500ms, 30m, 8h, 7d)"#
    ),
    (
      "push --max-bytes 5Mb a b", #"--max-bytes "5Mb" is not a number of bytes. Try: --max-bytes 16MiB (or 4096, 500K)"#
    ),
    ("verify --subset 3", #"--subset "3" is not a share. Try: --subset 3/28"#),
    ("push --workers many a b", #"--workers "many" is not a number. Try: transfers push --help"#),
    ("set --last --workers 999", #"--workers "999" is out of range. Try: transfers set --help"#),
    ("callbacks retry x", #""x" is not a number. Try: transfers callbacks retry --help"#),
    ("push --after shred a b", #"--after "shred" is not keep, delete or move:FOLDER. Try: transfers push --help"#),
    ("report latency --sla foo", #"--sla "foo" is not MEASURE<TIME. Try: --sla 'file.wall<10m'"#),
    ("completions bush", #""bush" is not one of bash, zsh, fish. Try: bash"#),
    ("completions ksh", #""ksh" is not one of bash, zsh, fish. Try: bash, zsh or fish"#),
    ("status --color blue", #"--color "blue" is not one of auto, always, never. Try: --color auto, always or never"#),
    ("set --priority", "Missing value for '--priority <n>'. Try: transfers set --help"),
    ("push --nope a b", "Unknown option '--nope'. Did you mean '--name'? Try: transfers push --help"),
  ])
  func anErrorSaysWhatIsAllowed(_ line: String, _ expected: String) throws {
    let outcome = try program.run(line.split(separator: " ").map { Array($0.utf8) })
    #expect(outcome.code == 64 && outcome.out.isEmpty)
    #expect(outcome.err == "transfers: error[usage]: \(expected)\n")
  }

  /// A long list of words is one line, without the marks of a list.
  @Test func theNearestWordIsOffered() throws {
    let outcome = try program.run("report", "sumary")
    #expect(outcome.code == 64)
    #expect(outcome.err.hasPrefix(#"transfers: error[usage]: "sumary" is not one of summary, batches, files,"#))
    #expect(outcome.err.hasSuffix(". Try: summary\n") && !outcome.err.contains("  "), "\(outcome.err)")
  }

  /// The variable of the environment that was wrong is named as well.
  @Test func aVariableIsNamed() throws {
    let outcome = try program.run("run", environment: ["TRANSFERS_RATE": "fast"])
    #expect(outcome.code == 64)
    #expect(
      outcome.err.hasPrefix(
        #"transfers: error[usage]: TRANSFERS_RATE is "fast": --rate "fast" is not a rate in bytes per second"#),
      "\(outcome.err)")
  }
}
