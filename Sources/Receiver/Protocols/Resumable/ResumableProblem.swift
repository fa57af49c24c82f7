import TransferModel

/// Refusals with a description that programs understand. Source: RFC 9457 section 3.
enum ResumableProblem {
  private static let types = "https://iana.org/assignments/http-problem-types#"

  static var inconsistentLength: Answer {
    answer(400, types + "inconsistent-upload-length", "the lengths of the upload contradict each other")
  }

  static var completedUpload: Answer { answer(400, types + "completed-upload", "the upload is complete") }

  static var digestMismatch: Answer { answer(400, "about:blank", "digest mismatch") }

  static func mismatch(expected: Int64, provided: Int64) -> Answer {
    answer(
      409, types + "mismatching-upload-offset", "the upload continues at another offset",
      [("expected-offset", expected), ("provided-offset", provided)])
  }

  private static func answer(_ status: Int, _ type: String, _ title: String, _ more: [(String, Int64)] = []) -> Answer {
    var json: JSON = ["type": .text(type), "title": .text(title), "status": .number(Int64(status))]
    for (name, value) in more { json = json.adding(name, .number(value)) }
    return Answer(status, json: json, type: "application/problem+json")
  }
}
