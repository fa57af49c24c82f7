public import TransferModel

/// Everything that must be known about a protocol outside of its folder: one line in ``AllProtocols/definitions``.
public struct ProtocolDefinition: Sendable {
  /// `s3`, `put`, …: stored with each batch, and ``TransferProtocol/name``.
  public let name: String
  let address: Address
  /// The options that such a destination supports.
  let options: [ProtocolOption]
  /// The properties of its objects that rules can set.
  let objectSettings: Set<ObjectSetting.Kind>
  public let credential: CredentialKind
  public let description: ProtocolDescription
  /// The options can contain the whole paths of files, not only the destination.
  let tellsPaths: @Sendable (BatchSettings) -> Bool
  let origin: @Sendable (BatchSettings, Destination, _ credentialsRegion: String?) throws(TransferError) -> WebOrigin
  let make:
    @Sendable (BatchSettings, Destination, _ credentialsRegion: String?) throws(TransferError) -> any TransferProtocol

  /// The syntax of destinations.
  enum Address: Sendable {
    /// `SCHEME://BUCKET/PREFIX/`.
    case bucket(scheme: String)
    /// A URL of `http` or `https` with this prefix: `tus+`.
    case web(prefix: String, WebRules)
    /// A URL without its own scheme: the settings name the protocol.
    case endpoint
  }

  /// The source of a batch's credential.
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

  /// A protocol whose requests go to the URL of its destination.
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

  /// The schemes of the URLs as they are typed.
  var schemes: [String] {
    switch address {
    case .bucket(let scheme): ["\(scheme)://"]
    case .web(let prefix, _): ["\(prefix)http://", "\(prefix)https://"]
    case .endpoint: []
    }
  }

  /// The prefix before `http` in its URLs; empty for others.
  var prefix: String { if case .web(let prefix, _) = address { prefix } else { "" } }

  /// The beginning of such a destination, for messages.
  var words: String {
    switch address {
    case .bucket(let scheme): scheme
    case .web(let prefix, _): "\(prefix)http(s)"
    case .endpoint: "--via"
    }
  }
}

/// What the URL of a web destination may contain.
struct WebRules: Sendable, Hashable {
  struct Refusal: Sendable, Hashable {
    let cause, remedy: String
  }

  /// The URL belongs to a program that accepts files, and is the same for all of them; keys are sent in another way.
  var isEndpoint = false
  /// Complete keys are always sent, whatever the URL contains.
  var tellsKeys = false
  /// Why `{path}` and `{name}` are not allowed; nil if they are.
  var templateRefusal: Refusal?
  /// Why a query is not allowed; nil if it is.
  var queryRefusal: Refusal?
  /// How to give different keys to files that differ only in their paths.
  var wayToTellPaths = "write {path} instead of {name} in the destination"
}
