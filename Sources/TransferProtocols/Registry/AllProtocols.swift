public import TransferModel

/// The list of all protocols.
public enum AllProtocols {
  /// In display order.
  public static let definitions: [ProtocolDefinition] = [
    S3Protocol.definition,
    PutProtocol.put,
    PutProtocol.post,
    PutProtocol.dav,
    DavPatchProtocol.definition,
    FormProtocol.definition,
    TusProtocol.definition,
    ResumableProtocol.definition,
    ProfileProtocol.definition,
  ]

  /// The protocols of downloads.
  static let downloads: [ProtocolDefinition] = [GetProtocol.definition, GetProtocol.dav, S3Protocol.download]

  /// The possible values of ``TransferProtocol/name``.
  public static let names = definitions.map(\.name)

  /// The abilities of the protocols.
  public static let descriptions = definitions.map(\.description)

  /// The protocol of a batch, from its frozen settings. `credentialsRegion` is the region from the environment or
  /// profile, used if the settings have none.
  /// - Throws: `.usage` or `.config` for invalid settings, with the remedy.
  package static func make(
    _ settings: BatchSettings, credentialsRegion: String?
  ) throws(TransferError) -> any TransferProtocol {
    let destination = try Destination(settings)
    return try destination.definition.make(settings, destination, credentialsRegion)
  }

  /// The origin to which requests of a batch go: concurrency, breaker and retry budget are shared per origin.
  public static func origin(
    _ settings: BatchSettings, credentialsRegion: String?
  ) throws(TransferError) -> WebOrigin {
    let destination = try Destination(settings)
    return try destination.definition.origin(settings, destination, credentialsRegion)
  }

  static func definition(named name: String) -> ProtocolDefinition? {
    (definitions + downloads).first { $0.name == name }
  }

  /// The protocol for a URL with this scheme.
  static func definition(scheme: String, _ direction: Direction) -> ProtocolDefinition? {
    let all = direction == .upload ? definitions : downloads
    return all.first { $0.schemes.contains(scheme.lowercased() + "://") }
  }

  /// The URL prefixes for this direction: `https://`.
  public static func schemes(_ direction: Direction) -> [String] {
    (direction == .upload ? definitions : downloads).flatMap(\.schemes)
  }
}

// MARK: - Options

extension AllProtocols {
  /// The options of all upload protocols, each once, in the order of the protocols.
  public static let options: [ProtocolOption] = definitions.flatMap(\.options).reduce(into: []) { known, option in
    if !known.contains(where: { $0.long == option.long }) { known.append(option) }
  }

  /// The same for download protocols.
  public static let downloadOptions: [ProtocolOption] = downloads.flatMap(\.options).reduce(into: []) { known, option in
    if !known.contains(where: { $0.long == option.long }) { known.append(option) }
  }

  /// The option for credentials given by reference.
  private static let auth = "auth"

  /// Options in `settings` that its destination does not support, by their long names without dashes.
  /// - Throws: `.usage` for an invalid destination.
  public static func unsupportedOptions(_ settings: BatchSettings) throws(TransferError) -> [String] {
    let definition = try Destination(settings).definition
    let known = Set(definition.options.map(\.long))
    let isForeign = settings.auth != nil && definition.credential != .reference
    return (isForeign ? [auth] : []) + settings.options.keys.filter { !known.contains($0) }.sorted()
  }

  /// Refuses options that would be ignored. Checked only when a batch is created, because recorded batches must
  /// continue.
  /// - Throws: `.usage`, naming the first such option and the destinations that support it.
  public static func refuseUnsupportedOptions(_ settings: BatchSettings) throws(TransferError) {
    try refuseUnsupportedOptions(settings, try unsupportedOptions(settings))
    try refuseUnsupportedRules(settings)
  }

  /// The same for options that are already known not to be supported by a destination.
  package static func refuseUnsupportedOptions(_ settings: BatchSettings, _ foreign: [String]) throws(TransferError) {
    guard let option = foreign.first else { return }
    let definition = try Destination(settings).definition
    let known = settings.direction == .upload ? definitions : downloads
    let knowing = known.filter { known in
      option == auth ? known.credential == .reference : known.options.contains { $0.long == option }
    }
    let isForInputs = option == auth && definition.credential == .inputs
    throw TransferError(
      .usage, "read --\(option)",
      cause: "not supported for this \(settings.direction == .upload ? "destination" : "source")",
      remedy: isForInputs
        ? "give the profile its secrets with --input"
        : "leave it out; it is for \(knowing.map(\.words).joined(separator: ", ")) \(settings.direction == .upload ? "destinations" : "sources")"
    )
  }
}
