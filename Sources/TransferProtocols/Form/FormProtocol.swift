public import TransferModel

/// One POST of `multipart/form-data` for each file (RFC 7578). The file is streamed between the parts of the frame; the
/// total length is known in advance.
///
/// A form cannot be queried: a POST whose answer was lost is not repeated, and the file is `unknown` until a person
/// decides.
public struct FormProtocol: TransferProtocol {
  let place: WebPlace
  let fields: [FormField]
  let fileField: String
  let mediaType: MediaTypeChoice
  let expectContinue: Bool
  let answers: AcceptedAnswers

  public let name = "form"
  public let abilities = ProtocolAbilities(parallelChunks: false, resumable: false, unrepeatable: [.part])
  public let sentDigest = DigestAlgorithm.crc32c

  /// - Throws: `.usage` for empty options.
  init(place: WebPlace, _ settings: BatchSettings) throws(TransferError) {
    self.place = place
    fields = try (settings.fields ?? []).map { field throws(TransferError) in try FormField(parsing: field) }
    fileField = settings.fileField ?? "file"
    mediaType = try MediaTypeChoice(parsing: settings.contentType ?? "auto")
    expectContinue = settings.expectContinue
    answers = AcceptedAnswers(settings)
    guard !fileField.isEmpty else {
      throw TransferError(.usage, "read --file-field", cause: "the name is empty", remedy: "leave it out for \"file\"")
    }
  }

  package func layout(size: Int64) throws(TransferError) -> ChunkLayout { ChunkLayout(whole: size) }

  public func refusal(ofKey key: NameBytes) -> Failure? { WebPlace.refusal(ofKey: key) }

  public func location(ofKey key: NameBytes) -> String { place.location(key) }

  /// The program at the URL decides where the file goes, by the fields.
  public var keyPlace: String {
    let named = fields.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
    var settings = named.map { KeyPlace.setting("field", $0.element.name, $0.element.value) }
    if fileField != "file" { settings.append(KeyPlace.setting("file-field", fileField)) }
    return KeyPlace.text(place.keyPlace, by: name, settings)
  }

  package func nextStep(_ facts: TransferFacts) -> TransferStep {
    guard facts.isAllStored else { return .chunks }
    return .complete(FileProof(confirmation: .none, digest: facts.parts.first?.digest))
  }
}
