public import TransferModel

/// The destination of a batch, as typed: `s3://bucket/prefix/`, `http(s)://…` (PUT), `tus+http(s)://…` … The schemes
/// are those of ``AllProtocols``.
///
/// A trailing slash means "into"; without one the text is the name of a single object. Web destinations may contain
/// `{path}` (the encoded relative path) and `{name}` (its last component) instead. A destination never contains a
/// secret: user information and known credential parameters in the query are refused.
public struct Destination: Sendable, Hashable {
  public enum Place: Sendable, Hashable {
    case bucket(String)
    case web(WebPlace)
    /// The server of a profile, which determines the URL of each file.
    case endpoint(WebOrigin)
  }

  public let place: Place
  /// ``TransferProtocol/name`` of its protocol.
  public let protocolName: String
  /// The path below the bucket or origin, decoded; empty for a template, unless its only field ends the path.
  public let prefix: NameBytes
  /// Files are stored below ``prefix``, under their relative paths.
  public let isInto: Bool
  /// Keys contain the whole path of a file; otherwise only its name.
  let usesPath: Bool

  /// Names of the schemes, for messages and help.
  public static let schemes = AllProtocols.definitions.flatMap(\.schemes)

  /// Parses the destination of a batch, using all of its settings.
  /// - Throws: `.usage`, with the remedy.
  public init(_ settings: BatchSettings) throws(TransferError) {
    let parsed = try Destination(parsing: settings.destination, settings.direction)
    guard settings.profile == nil else {
      self = try Destination(endpoint: parsed, settings.destination)
      return
    }
    (place, prefix, isInto, protocolName) = (parsed.place, parsed.prefix, parsed.isInto, parsed.protocolName)
    usesPath = parsed.usesPath || parsed.definition.tellsPaths(settings)
  }

  /// The key of a file below the bucket or origin. `path` is relative to the source argument; `isSingleFile` is true if
  /// that argument was the file itself.
  public func key(forRelativePath path: NameBytes, isSingleFile: Bool) -> NameBytes {
    var key: [UInt8] = []
    path.bytes.withUnsafeBytes { appendKey(forRelativePath: $0, isSingleFile: isSingleFile, to: &key) }
    return NameBytes(key)
  }

  /// The same for bytes, without copying.
  public func appendKey(
    forRelativePath path: UnsafeRawBufferPointer, isSingleFile: Bool, to key: inout [UInt8]
  ) {
    key.append(contentsOf: prefix.bytes)
    let start = mayJoinPaths ? path.lastIndex(of: 0x2F).map { $0 + 1 } : nil
    if isInto { return key.append(contentsOf: path[(start ?? 0)...]) }
    guard !isSingleFile else { return }
    key.append(0x2F)
    key.append(contentsOf: path)
  }

  /// Whether files with different paths can have the same key, because keys contain only their names.
  public var mayJoinPaths: Bool {
    if case .web = place { !usesPath } else { false }
  }

  /// How to give files with different paths different keys, if ``mayJoinPaths``; nil otherwise.
  public var wayToTellPaths: String? {
    guard mayJoinPaths, case .web(let web) = place else { return nil }
    return web.rules.wayToTellPaths
  }

  /// The protocol of the destination.
  public var definition: ProtocolDefinition {
    guard let definition = AllProtocols.definition(named: protocolName) else {
      preconditionFailure("\(protocolName) is not in the list of protocols")
    }
    return definition
  }

  /// The bucket of a destination; nil for the other kinds.
  var bucket: String {
    get throws(TransferError) {
      guard case .bucket(let bucket) = place else { throw noPlace("bucket") }
      return bucket
    }
  }

  /// The URL of a key at a web destination.
  var webPlace: WebPlace {
    get throws(TransferError) {
      guard case .web(let web) = place else { throw noPlace("URL") }
      return web
    }
  }

  /// The server of a web destination.
  public func webOrigin() throws(TransferError) -> WebOrigin { try webPlace.origin }

  /// The server of a destination with a profile.
  var endpoint: WebOrigin {
    get throws(TransferError) {
      guard case .endpoint(let origin) = place else { throw noPlace("server") }
      return origin
    }
  }

  private func noPlace(_ what: String) -> TransferError {
    TransferError(.bug, "read destination", NameBytes(protocolName), cause: "it has no \(what)")
  }
}
