import TransferModel

/// An error in a manifest. Its texts contain names as ``shown(_:)``, and no URLs, which could contain a secret.
struct ManifestFault: Error, Hashable {
  var cause: String
  var remedy: String
  /// The line, if it is not the one that was just read.
  var line: Int?

  init(_ cause: String, _ remedy: String, line: Int? = nil) {
    (self.cause, self.remedy, self.line) = (cause, remedy, line)
  }

  /// The error for display; `line` is the line that was just read.
  func error(_ manifest: NameBytes, line: Int) -> TransferError {
    TransferError(.badList, "read manifest", manifest, cause: "line \(self.line ?? line): \(cause)", remedy: remedy)
  }

  private static let longestShown = 200

  /// A name in a text that is later escaped as a whole (``NameBytes/embedded``), shortened if it is long. For a
  /// misplaced URL only the scheme is shown.
  static func shown(_ name: some Sequence<UInt8>) -> String {
    let front = Array(name.prefix(longestShown + 1))
    let mark = front.indices.first { front[$0...].starts(with: [0x3A, 0x2F, 0x2F]) }
    let kept = front.prefix(mark.map { $0 + 3 } ?? longestShown)
    return "\"" + NameBytes(Array(kept)).embedded + (kept.count < front.count ? "…\"" : "\"")
  }
}
