import TransferLedger
package import TransferModel
import TransferProtocols

/// The destination of a batch: its settings, completed by values from the environment that must not change later, and
/// their interpretation.
struct UploadTarget: Sendable {
  let settings: BatchSettings
  let destination: Destination
  let transferProtocol: ProtocolInUse

  /// - Throws: `.usage` for an invalid destination and for options that it does not support; `.config` for invalid
  ///   files.
  init(_ asked: BatchSettings) throws(TransferError) {
    try AllProtocols.refuseUnsupportedOptions(asked)
    let rooted = try asked.rooted()
    if let file = rooted.caFile { try TrustFile.check(file, namedBy: "--ca-file") }
    destination = try Destination(rooted)
    if destination.definition.credential == .aws {
      settings = try AWSEnvironment(profile: rooted.awsProfile).completing(rooted)
    } else {
      settings = rooted
    }
    transferProtocol = ProtocolInUse(try AllProtocols.make(settings, credentialsRegion: nil))
  }

  /// Distinguishes objects that have the same key: the same file is sent to each of these places.
  var keyPlace: String { transferProtocol.keyPlace(auth: settings.auth) }

  /// The hosts that receive requests, as far as known before the first request; the destination is first.
  func hosts() throws(TransferError) -> [String] {
    if let profile = transferProtocol.base as? ProfileProtocol { return profile.hosts }
    return [try AllProtocols.origin(settings, credentialsRegion: nil).description]
  }

  /// Environment variables from which credentials and inputs are read.
  func variables() throws(TransferError) -> [String] {
    try settings.credentialVariables.sorted()
  }

  /// The batch that an `add` with these options creates.
  func batch(_ options: UploadOptions) -> NewBatch {
    var batch = NewBatch(
      name: options.name, settings: settings, protocolName: transferProtocol.name, destination: settings.destination,
      place: keyPlace, labels: options.labels, priority: options.priority,
      job: options.job)
    batch.objects = transferProtocol.objectPlace
    return batch
  }
}

extension BatchSettings {
  /// Environment variables that references to credentials and inputs name.
  var referencedVariables: Set<String> {
    get throws(TransferError) {
      var references = (profile?.secrets ?? [:]).values.map { SecretReference($0) }
      if let auth { references.append(try CredentialReference(parsing: auth).place) }
      var names: Set<String> = []
      for case .environment(let name)? in references { names.insert(name) }
      return names
    }
  }

  /// Environment variables from which credentials and inputs are read.
  var credentialVariables: Set<String> {
    get throws(TransferError) {
      var names = try referencedVariables
      if try Destination(self).definition.credential == .aws {
        names.formUnion(try AWSEnvironment(profile: awsProfile).variables)
      }
      return names
    }
  }
}

extension BatchSettings {
  /// Checks destination and options without the files and the environment of the host that will send.
  /// - Throws: `.usage` for an invalid destination and for options that it does not support.
  package func checkDestination() throws(TransferError) {
    try AllProtocols.refuseUnsupportedOptions(self)
    _ = try Destination(try rooted())
  }
}
