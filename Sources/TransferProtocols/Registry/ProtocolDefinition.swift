public import TransferModel

/// Everything that is to be known about a protocol outside of its folder: one line in ``AllProtocols/definitions``.
public struct ProtocolDefinition: Sendable {
  /// `s3`, `put`, …: stored with each batch, and ``TransferProtocol/name``.
  public let name: String
  let address: Address
  /// Which options say something to such a destination.
  let options: [ProtocolOption]
  /// What rules can set for its objects.
  let objectSettings: Set<ObjectSetting.Kind>
  public let credential: CredentialKind
  public let description: ProtocolDescription
  /// Options tell the whole paths of files too, not only the destination.
  let tellsPaths: @Sendable (BatchSettings) -> Bool
  let origin: @Sendable (BatchSettings, Destination, _ credentialsRegion: String?) throws(TransferError) -> WebOrigin
  let make:
    @Sendable (BatchSettings, Destination, _ credentialsRegion: String?) throws(TransferError) -> any TransferProtocol

  /// How a destination names what files are put into.
  enum Address: Sendable {
    /// `SCHEME://BUCKET/PREFIX/`.
    case bucket(scheme: String)
    /// A URL of `http` or `https`, with this in front: `tus+`.
    case web(prefix: String, WebRules)
    /// A URL without a scheme of its own: the settings name what speaks to it.
    case endpoint
  }

  /// Where the credential of a batch comes from.
  public enum CredentialKind: Sendable {
    /// The variables and files of AWS tools.
    case aws
    /// `--auth`.
    case reference
    /// The inputs of a profile.
    case inputs
  }

  init(
    _ description: ProtocolDescription, _ address: Address, credential: CredentialKind, options: [ProtocolOption],
    objectSettings: Set<ObjectSetting.Kind> = [],
    tellsPaths: @escaping @Sendable (BatchSettings) -> Bool = { _ in false },
    origin: @escaping @Sendable (BatchSettings, Destination, String?) throws(TransferError) -> WebOrigin,
    make: @escaping @Sendable (BatchSettings, Destination, String?) throws(TransferError) -> any TransferProtocol
  ) {
    name = description.name
    (self.address, self.credential, self.options, self.description) = (address, credential, options, description)
    (self.tellsPaths, self.origin, self.make) = (tellsPaths, origin, make)
    self.objectSettings = objectSettings
  }

  /// A protocol that speaks to the URL of its destination.
  init(
    web prefix: String, rules: WebRules = WebRules(), _ description: ProtocolDescription, options: [ProtocolOption],
    tellsPaths: @escaping @Sendable (BatchSettings) -> Bool = { _ in false },
    make: @escaping @Sendable (BatchSettings, WebPlace) throws(TransferError) -> any TransferProtocol
  ) {
    self.init(
      description, .web(prefix: prefix, rules), credential: .reference, options: options,
      objectSettings: [.contentType, .header],
      tellsPaths: tellsPaths,
      origin: { _, destination, _ throws(TransferError) in try destination.webPlace.origin },
      make: { settings, destination, _ throws(TransferError) in try make(settings, destination.webPlace) })
  }

  /// Of the URLs, as people write them.
  var schemes: [String] {
    switch address {
    case .bucket(let scheme): ["\(scheme)://"]
    case .web(let prefix, _): ["\(prefix)http://", "\(prefix)https://"]
    case .endpoint: []
    }
  }

  /// What stands before `http` in its URLs; empty for others.
  var prefix: String { if case .web(let prefix, _) = address { prefix } else { "" } }

  /// As people begin such a destination, in messages.
  var words: String {
    switch address {
    case .bucket(let scheme): scheme
    case .web(let prefix, _): "\(prefix)http(s)"
    case .endpoint: "--via"
    }
  }
}

/// What a web destination may hold.
struct WebRules: Sendable, Hashable {
  struct Refusal: Sendable, Hashable {
    let cause, remedy: String
  }

  /// The URL is that of a program that takes files, and the same for all of them; keys are told in another way.
  var isEndpoint = false
  /// Keys are told whole, whatever the URL says.
  var tellsKeys = false
  /// Why `{path}` and `{name}` cannot stand in it; nil where they can.
  var templateRefusal: Refusal?
  /// Why it cannot have a query; nil where it can.
  var queryRefusal: Refusal?
  /// What keeps files of different paths apart where only their names do.
  var wayToTellPaths = "write {path} instead of {name} in the destination"
}
