import TransferModel

/// Answers that the user declared a success; by themselves they do not confirm that anything is stored.
struct AcceptedAnswers: Sendable, Hashable {
  /// A 200 with a web page.
  var html = false
  /// 202: accepted, to be processed later.
  var accepts202 = false

  init() {}

  init(_ settings: BatchSettings) {
    html = settings.acceptsHTML
    accepts202 = settings.accepts202
  }

  /// Whether a web page is a valid answer to a body of this media type: a server may answer a page with the page
  /// itself.
  func acceptsPage(for mediaType: String) -> Bool { html || mediaType.lowercased().hasPrefix("text/html") }
}
