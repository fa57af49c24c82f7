public import TransferModel

/// The one list of upload protocols.
public enum AllProtocols {
  /// What ``UploadProtocol/name`` can be, in the order in which they are shown.
  public static let names = ["s3"] + WebMethod.allCases.map(\.rawValue) + [ProfileProtocol.name]

  /// What they can do, in the same order.
  public static let descriptions =
    S3Protocol.descriptions + PutProtocol.descriptions + FormProtocol.descriptions + TusProtocol.descriptions
    + ResumableProtocol.descriptions + ProfileProtocol.descriptions

  /// The protocol of a batch, from its frozen settings. `credentialsRegion` is the region that environment or profile name,
  /// used when the settings have none.
  /// - Throws: `.usage` or `.config` for what cannot be understood, with the remedy.
  public static func make(
    _ settings: BatchSettings, credentialsRegion: String?
  ) throws(TransferError) -> any UploadProtocol {
    let destination = try Destination(settings)
    switch destination.place {
    case .s3(let bucket):
      let s3 = S3Protocol(settings: try S3Settings(bucket: bucket, settings, credentialsRegion: credentialsRegion))
      // Wrong part sizes fail here, once, and not with every file.
      _ = try s3.layout(size: 0)
      return s3
    case .web(let place) where place.method == .form: return try FormProtocol(place: place, settings)
    case .web(let place) where place.method == .tus:
      return TusProtocol(endpoint: place, settings: try TusSettings(settings))
    case .web(let place) where place.method == .resumable:
      return ResumableProtocol(place: place, settings: try ResumableSettings(settings))
    case .web(let place):
      return PutProtocol(
        place: place, ifNoneMatch: settings.ifNoneMatch, expectContinue: settings.expectContinue,
        mediaType: try MediaTypeChoice(parsing: settings.web?.contentType ?? MediaType.unknown),
        answers: AcceptedAnswers(settings.web))
    case .endpoint: return try ProfileProtocol(settings)
    }
  }

  /// The origin that requests of a batch go to: what shares concurrency, breaker and retry budget.
  public static func origin(
    _ settings: BatchSettings, credentialsRegion: String?
  ) throws(TransferError) -> WebOrigin {
    let destination = try Destination(settings)
    switch destination.place {
    case .s3(let bucket):
      return try S3Settings(bucket: bucket, settings, credentialsRegion: credentialsRegion).origin(learned: nil)
    case .web(let place): return place.origin
    case .endpoint(let origin): return origin
    }
  }
}
