import TransferEngine
public import TransferModel
import TransferProtocols

/// The upload protocols that this library supports.
public enum ProtocolCatalog {
  /// What each upload protocol can do, in the order in which they are shown.
  public static var all: [ProtocolDescription] { AllProtocols.descriptions + AllProtocols.profiles }

  /// The options of all protocols, each once.
  public static var options: [ProtocolOption] { AllProtocols.options }

  /// Options of the download protocols.
  public static var downloadOptions: [ProtocolOption] { AllProtocols.downloadOptions }

  /// Options in `settings` that the destination does not support, by their long names without dashes; `add` refuses
  /// them.
  /// - Throws: `.usage` for an invalid destination.
  public static func unsupportedOptions(_ settings: BatchSettings) throws(TransferError) -> [String] {
    try AllProtocols.unsupportedOptions(settings)
  }

  /// One rule for the properties of objects, written as `GLOB:SETTING=VALUE`.
  /// - Throws: `.usage` for an invalid one, and for one that would set a header with a secret.
  public static func objectRule(_ text: String) throws(TransferError) -> ObjectRule {
    let rule = try ObjectRule(parsing: text)
    guard let (_, cause) = ObjectRules([rule]).problem else { return rule }
    throw TransferError(.usage, "read --rule", NameBytes(text), cause: cause, remedy: "correct the pattern")
  }

  /// Rules in `settings` whose setting the destination does not support; `add` refuses them.
  /// - Throws: `.usage` for an invalid destination.
  public static func unsupportedRules(_ settings: BatchSettings) throws(TransferError) -> [ObjectRule] {
    try AllProtocols.unsupportedRules(settings)
  }

  /// Scheme, host and port to which the requests of a batch go, like `https://s3.example:9000`.
  /// - Throws: `.usage` for an invalid destination.
  package static func origin(_ settings: BatchSettings) throws(TransferError) -> String {
    try AllProtocols.origin(settings, credentialsRegion: nil).description
  }

  /// A hash of what distinguishes the objects of a batch from those with the same keys elsewhere: the server, account,
  /// query and settings that decide where a file goes.
  /// - Throws: `.usage` for an invalid destination.
  package static func placeHash(_ settings: BatchSettings) throws(TransferError) -> String {
    var digest = RunningDigest(.sha256)
    try Array(UploadTarget(settings).keyPlace.utf8).withUnsafeBytes { digest.update($0) }
    return digest.finish().description
  }
}
