public import TransferModel
import TransferProtocols

/// The upload protocols that this library speaks.
public enum ProtocolCatalog {
  /// What each upload protocol can do, in the order in which they are shown.
  public static var all: [ProtocolDescription] { AllProtocols.descriptions + AllProtocols.profiles }

  /// The options of all protocols, each once.
  public static var options: [ProtocolOption] { AllProtocols.options }

  /// Options of those that fetch.
  public static var downloadOptions: [ProtocolOption] { AllProtocols.downloadOptions }

  /// Options in `settings` that the destination does not know, by their long names without dashes; `add` refuses them.
  /// - Throws: `.usage` for a destination that cannot be understood.
  public static func foreignOptions(_ settings: BatchSettings) throws(TransferError) -> [String] {
    try AllProtocols.foreignOptions(settings)
  }

  /// Scheme, host and port that requests of a batch go to, as `https://s3.example:9000`.
  /// - Throws: `.usage` for a destination that cannot be understood.
  package static func origin(_ settings: BatchSettings) throws(TransferError) -> String {
    try AllProtocols.origin(settings, credentialsRegion: nil).description
  }
}
