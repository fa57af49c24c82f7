import TransferReports

/// `transfers help exit-codes`: the table of ``ExitCode`` and the rules around it.
enum ExitCodeHelp {
  private static let columns: [Column<ExitCode>] = [
    .integer("code", "Code") { Int64($0.rawValue) },
    .text("name", "Name") { $0.name },
    .flag("retryable") { $0.isRetryable },
    .text("meaning", "Meaning") { $0.meaning },
  ]

  static var table: FigureTable { FigureTable(columns, ExitCode.allCases) }

  static var text: String {
    var layout = Table(.plain)
    return layout.page(table) + """

      Codes 0 to 5 and 8 follow one rule, applied to the files of the command: push: its own, whichever engine sent them;
      wait and status --exit-code: the selected ones; run: all that are not hidden, including those of earlier runs.
      A failed file counts until it is sent ("retry", "push") or hidden ("clean --failed"), a cancelled one until it is sent or
      hidden ("clean"), an unknown one until it is resolved ("resolve", "retry").

      When several hold: 1 and 7 win over 8, 8 over 4, 4 over 3, 3 over 5, 5 over 0.
      Only "check" uses the codes of monitoring plug-ins: 0 OK, 1 warning, 2 critical, 3 unknown.
      Only "condor-plugin" uses the codes of HTCondor plug-ins: 0 all moved, 11 try again, 1 a person is needed.
      An unknown code that is not 0 is a failure. Codes may be added, none changes its meaning.
      130 and 143 are what a shell shows for a process that ended by SIGINT or SIGTERM.

      Every exit code except 0 and 141 comes with one line on standard error:
        transfers: error[kind]: operation subject: cause. Try: remedy
      With --json, standard output holds at most one document, and the last line of standard error is
        {"type":"exit","code":3,"name":"partial","error":…,"message":…,"remedy":…,"retryable":false}

      """
  }
}
