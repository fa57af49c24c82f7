public import TransferModel

extension ProfileProtocol {
  /// The description of profiles in general; ``AllProtocols/profiles`` has a row for each built-in one.
  static let definition = ProtocolDefinition(
    ProtocolDescription(
      name: name, destination: "http(s):// --via", usage: "http(s)://host/… --via NAME",
      about: "as described by a profile: token blocks, numbered chunks, Resumable.js, Dropbox … (help profiles)",
      parallel: "by profile", isResumable: true, probe: "by profile", digest: "by profile",
      exactlyOnce: "by profile; else unknown"),
    .endpoint, credential: .inputs,
    options: [.partSize, .allowHost],
    origin: { _, destination, _ throws(TransferError) in try destination.endpoint },
    make: { settings, _, _ throws(TransferError) in try ProfileProtocol(settings) })

  /// The protocol that this profile describes.
  func description(via name: String) -> ProtocolDescription {
    let chunks = profile.chunk
    return ProtocolDescription(
      name: name, destination: "--via", usage: "http(s)://host/… --via \(name)", about: "",
      parallel: chunks.mode == .parallel ? "\(chunks.parallel) chunks" : "no", isResumable: abilities.resumable,
      probe: [StepName.probe, .probeChunk, .verify].filter { profile.step($0) != nil }.map(\.rawValue).joined(
        separator: ", "),
      digest: comparedDigests.isEmpty ? "none" : comparedDigests.joined(separator: " "),
      exactlyOnce: unrepeatableSteps.isEmpty
        ? "yes" : "yes; unknown for \(unrepeatableSteps.joined(separator: ", "))")
  }

  /// Digests with which answers are compared.
  private var comparedDigests: [String] {
    let requirements = profile.steps.values.flatMap(\.success.requirements)
    let hashes = ProfileHash.allCases.filter { hash in
      requirements.contains { $0.names("chunk", field: hash.rawValue) || $0.names("file", field: hash.rawValue) }
    }
    return hashes.map { $0.rawValue.uppercased() }
  }
}

extension AllProtocols {
  /// The abilities of the built-in profiles, in order.
  public static let profiles: [ProtocolDescription] = BuiltinProfile.names.compactMap { name in
    guard let text = BuiltinProfile.text(name), let profile = try? Profile.read(text, file: name),
      let proto = try? ProfileProtocol(profile: profile, url: "https://host", inputs: [:], partSize: nil)
    else { return nil }
    return proto.description(via: name)
  }
}
