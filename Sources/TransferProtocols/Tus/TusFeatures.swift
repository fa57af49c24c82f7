import TransferModel

/// The features that a tus server announces in its answer to OPTIONS, kept for the run as names and values.
struct TusFeatures: Sendable, Hashable {
  var extensions: Set<String>
  /// Maximum bytes of one upload; nil if the server names no limit.
  var maxSize: Int64?
  /// Checksum algorithms, in lower case.
  var algorithms: [String]
  /// Versions of the protocol; empty if the server names none.
  var versions: [String]

  /// For servers that do not answer OPTIONS: the minimum that every server supports.
  static let least = TusFeatures(extensions: ["creation"], maxSize: nil, algorithms: [], versions: [])

  init(extensions: Set<String>, maxSize: Int64?, algorithms: [String], versions: [String]) {
    (self.extensions, self.maxSize, self.algorithms, self.versions) = (extensions, maxSize, algorithms, versions)
  }

  init(_ reply: TransferReply) {
    extensions = Set(Self.list(reply.field("tus-extension")))
    maxSize = reply.number("tus-max-size")
    algorithms = Self.list(reply.field("tus-checksum-algorithm"))
    versions = Self.list(reply.field("tus-version"))
    if extensions.isEmpty && versions.isEmpty { extensions = ["creation"] }
  }

  init(_ values: [String: String]) {
    extensions = Set(Self.list(values["extensions"]))
    maxSize = values["max-size"].flatMap { Int64($0) }
    algorithms = Self.list(values["checksums"])
    versions = Self.list(values["versions"])
  }

  var values: [String: String] {
    var values = [
      "extensions": extensions.sorted().joined(separator: ","), "checksums": algorithms.joined(separator: ","),
      "versions": versions.joined(separator: ","),
    ]
    values["max-size"] = maxSize.map(String.init)
    return values
  }

  func has(_ name: String) -> Bool { extensions.contains(name) }

  /// Why a file of this size cannot be uploaded; nil if it can.
  func refusal(size: Int64) -> Failure? {
    if !versions.isEmpty && !versions.contains(TusProtocol.version) {
      let named = printable(versions.prefix(5).joined(separator: ", "))
      return Failure(.protoUnsupported, "the server supports tus \(named), not \(TusProtocol.version)")
    }
    guard let maxSize, size > maxSize else { return nil }
    return Failure(.policyLimit, "\(size) bytes are more than the server accepts: \(maxSize)")
  }

  /// The algorithm for checksums of bodies, by its name on the server: the requested one, else the strongest that both
  /// the server and we support; nil for none.
  func checksum(_ wanted: TusSettings.Checksum) -> (name: String, algorithm: DigestAlgorithm)? {
    guard has("checksum") else { return nil }
    let known = Self.known.filter { algorithms.contains($0.name) }
    switch wanted {
    case .none: return nil
    case .chosen: return known.first
    case .named(let name): return known.first { $0.name == name }
    }
  }

  static let known: [(name: String, algorithm: DigestAlgorithm)] = [
    ("sha256", .sha256), ("sha1", .sha1), ("md5", .md5), ("crc32", .crc32),
  ]

  private static func list(_ text: String?) -> [String] {
    (text ?? "").split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }).lowercased() }
      .filter { !$0.isEmpty }
  }
}
