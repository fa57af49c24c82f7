import TransferModel

extension PutProtocol {
  static let put = ProtocolDefinition(
    web: "",
    ProtocolDescription(
      name: "put", destination: "http(s)://", usage: "http(s)://host/path/",
      about: "raw body, PUT to the path", digest: "CRC32C",
      exactlyOnce: "yes: the same object",
      notes: """
        PUT and WebDAV: a web page (200, text/html) does not confirm storage, nor does 202 for any of these
        protocols. If the server stores files nevertheless: --accept-html, --accept-202. Forms and POST are answered
        with pages; their proof is "none".
        """),
    options: [.ifNoneMatch, .expectContinue, .contentType, .acceptHTML, .accept202],
    make: { settings, place throws(TransferError) in try PutProtocol(.put, place, settings) })

  static let post = ProtocolDefinition(
    web: "post+",
    ProtocolDescription(
      name: "post", destination: "post+http(s)://", usage: "post+http(s)://host/path/",
      about: "raw body, POST to the path",
      digest: "CRC32C",
      exactlyOnce: "no: unknown"),
    options: [.ifNoneMatch, .expectContinue, .contentType, .accept202],
    make: { settings, place throws(TransferError) in try PutProtocol(.post, place, settings) })

  static let dav = ProtocolDefinition(
    web: "dav+",
    rules: .dav,
    ProtocolDescription(
      name: "dav", destination: "dav+http(s)://", usage: "dav+http(s)://host/path/",
      about: "PUT, and missing collections are made (WebDAV)",
      digest: "CRC32C", exactlyOnce: "yes: the same object"),
    options: [.ifNoneMatch, .expectContinue, .contentType, .acceptHTML, .accept202],
    make: { settings, place throws(TransferError) in try PutProtocol(.dav, place, settings) })

  private init(_ method: Method, _ place: WebPlace, _ settings: BatchSettings) throws(TransferError) {
    self.init(
      method: method, place: place, ifNoneMatch: settings.ifNoneMatch, expectContinue: settings.expectContinue,
      mediaType: try MediaTypeChoice(parsing: settings.contentType ?? MediaType.unknown),
      answers: AcceptedAnswers(settings))
  }
}
