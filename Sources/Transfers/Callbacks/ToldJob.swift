import FoundationEssentials

/// A run of a job as in its callback document.
struct ToldJob: Decodable {
  var name, result, message, summary, report: String?
  var failed_runs: Int?

  /// The job in a callback document, for receivers that do not read JSON; nil if there is none.
  init?(inDocument body: String?) {
    struct Document: Decodable {
      struct Content: Decodable { var job: ToldJob? }
      var data: Content
    }
    guard let body, let job = try? JSONDecoder().decode(Document.self, from: Data(body.utf8)).data.job else {
      return nil
    }
    self = job
  }

  /// The text of a mail.
  func lines(in ledger: String) -> [String] {
    let job = name ?? ""
    let said = message.map { [$0, ""] } ?? []
    let table = report.map { $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) } ?? []
    // The count includes this run; it is only printed if other runs failed since the last mail.
    let failed = failed_runs ?? 0
    let since = failed > (result == "ok" ? 0 : 1) ? ["Failed runs since the last mail: \(failed).", ""] : []
    return ["The job \(job) ended with \"\(result ?? "")\".", ""] + since + said + table
      + [summary ?? "", "", "transfers job show \(job)", "The ledger is \(ledger)."]
  }
}
