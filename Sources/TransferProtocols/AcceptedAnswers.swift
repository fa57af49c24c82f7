import TransferModel

/// Answers that count as stored because somebody said so: by themselves they do not say that anything is stored.
struct AcceptedAnswers: Sendable, Hashable {
  /// A 200 with a web page.
  var html = false
  /// 202: taken, to be worked on later.
  var accepts202 = false

  init() {}

  init(_ settings: BatchSettings) {
    html = settings.acceptsHTML
    accepts202 = settings.accepts202
  }

  /// Whether a page answers a body of this media type: what was sent as a page may come back as one.
  func acceptsPage(for mediaType: String) -> Bool { html || mediaType.lowercased().hasPrefix("text/html") }
}
