import HTTPTypes
import TransferModel

extension HTTPFields {
  /// The answer contains a web page: the file, or a login or an error with status 200 in its place.
  package var announcesPage: Bool {
    let type = self[.contentType]?.lowercased() ?? ""
    return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
  }
}

/// Web pages that are not the file.
extension GetProtocol {
  /// The meaning of a first answer with a page that is not taken for the file; nil for all other answers.
  func pageInPlaceOfFile(_ fields: HTTPFields, _ facts: TransferFacts) -> Interpretation? {
    guard fields.announcesPage, let why = doubtOfPage(facts) else { return nil }
    let text = "the server sent a web page (\(printable(fields[.contentType] ?? ""))), but \(why)"
    return .failed(Failure(.protoBadReply, text), .permanent)
  }

  /// Digests decide by themselves.
  private func doubtOfPage(_ facts: TransferFacts) -> String? {
    let (kind, expected) = (self.kind(of: facts), facts.file.expected)
    if !source.sendsWhatIsStored, !expected.saysContent, kind.isNoPage { return "the file name is not that of a page" }
    guard expected.digests.isEmpty, expected.pieces == nil, !kind.isPage else { return nil }
    if let earlier = RemoteVersion(facts.earlierVersion) {
      return earlier.isPage ? nil : "the file was none before; fetch it to another path if it is one now"
    }
    guard facts.replacesFile, !kind.isProgram else { return nil }
    return "it would replace a file that may be none; fetch it to another path if it is one"
  }

  /// The meaning of a page in place of more of a version that is none; nil for all other answers.
  func pageInPlaceOfVersion(_ fields: HTTPFields, _ version: RemoteVersion) -> Interpretation? {
    guard fields.announcesPage, !version.isPage else { return nil }
    let type = printable(fields[.contentType] ?? "")
    let text = "the remote file changed: the server sends a web page (\(type)) in its place"
    return .failed(Failure(.sourceChanged, text), .permanent)
  }
}
