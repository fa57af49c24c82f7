import Testing

@testable import TransfersCLI

/// A report that is read elsewhere says in which time zone its times are.
@Suite struct ReportZoneTests {
  @Test(arguments: [("IST-5:30", "+05:30"), ("NST3:30", "-03:30"), ("UTC0", "Z")])
  func timesForPeopleHaveTheirZone(_ zone: String, _ suffix: String) throws {
    let sent = try SentFile()
    let reports = ["table", "html", "markdown"].map { ["report", "runs", "--format", $0] }
    for command in reports + [["follow", "--since", "2020-01-01", "--until-idle"]] {
      let words = command + ["--store", sent.store]
      let text = try sent.program.run(words.map { Array($0.utf8) }, environment: ["TZ": zone]).out
      let times = text.matches(of: /20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?/)
      #expect(!times.isEmpty && times.allSatisfy { $0.output.1.map(String.init) == suffix }, "\(text)")
    }
  }
}
