public import TransferModel

/// The one list of protocols.
public enum AllProtocols {
  /// In the order in which they are shown.
  public static let definitions: [ProtocolDefinition] = [
    S3Protocol.definition,
    PutProtocol.put,
    PutProtocol.post,
    PutProtocol.dav,
    FormProtocol.definition,
    TusProtocol.definition,
    ResumableProtocol.definition,
    ProfileProtocol.definition,
  ]

  /// What ``UploadProtocol/name`` can be.
  public static let names = definitions.map(\.name)

  /// What they can do.
  public static let descriptions = definitions.map(\.description)

  /// The protocol of a batch, from its frozen settings. `credentialsRegion` is the region that environment or profile name,
  /// used when the settings have none.
  /// - Throws: `.usage` or `.config` for what cannot be understood, with the remedy.
  public static func make(
    _ settings: BatchSettings, credentialsRegion: String?
  ) throws(TransferError) -> any UploadProtocol {
    let destination = try Destination(settings)
    return try destination.definition.make(settings, destination, credentialsRegion)
  }

  /// The origin that requests of a batch go to: what shares concurrency, breaker and retry budget.
  public static func origin(
    _ settings: BatchSettings, credentialsRegion: String?
  ) throws(TransferError) -> WebOrigin {
    let destination = try Destination(settings)
    return try destination.definition.origin(settings, destination, credentialsRegion)
  }

  static func definition(named name: String) -> ProtocolDefinition? { definitions.first { $0.name == name } }

  /// The protocol that such a destination is for, by how it begins.
  static func definition(scheme: String) -> ProtocolDefinition? {
    definitions.first { $0.schemes.contains(scheme.lowercased() + "://") }
  }
}

// MARK: - Options

extension AllProtocols {
  /// The options in `settings` that say nothing to their destination.
  private static func foreign(_ settings: BatchSettings, _ destination: Destination) -> [ProtocolOption] {
    let known = Set(destination.definition.options.map(\.long))
    var seen: Set<String> = []
    return definitions.flatMap(\.options).filter {
      !known.contains($0.long) && seen.insert($0.long).inserted && $0.isSaid(settings)
    }
  }

  /// Options in `settings` that its destination does not know, by their long names without dashes.
  /// - Throws: `.usage` for a destination that cannot be understood.
  public static func foreignOptions(_ settings: BatchSettings) throws(TransferError) -> [String] {
    foreign(settings, try Destination(settings)).map(\.long)
  }

  /// Refuses what would be ignored. Asked when a batch is made, and never again: what is recorded must go on.
  /// - Throws: `.usage`, naming the first such option and the destinations that know it.
  public static func refuseForeignOptions(_ settings: BatchSettings) throws(TransferError) {
    let destination = try Destination(settings)
    guard let option = foreign(settings, destination).first else { return }
    let places = definitions.filter { $0.options.contains { $0.long == option.long } }.map(\.words)
    let isSecret = option.long == ProtocolOption.auth.long && destination.definition.credential == .inputs
    throw TransferError(
      .usage, "read --\(option.long)", cause: "not supported for this destination",
      remedy: isSecret
        ? "give the profile its secrets with --input"
        : "leave it out; it is for \(places.joined(separator: ", ")) destinations")
  }
}
