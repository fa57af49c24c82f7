/// Which way the bytes of a batch go; raw values are stored in the ledger.
public enum Direction: String, Sendable, CaseIterable, Codable {
  /// From a local file to a remote object.
  case upload
  /// From a remote object to a local file.
  case download
}

/// Settings of a download in addition to those of all batches.
public struct DownloadSettings: Sendable, Hashable {
  /// The absolute path of the folder of all its files; nothing is written outside of it.
  public var folder: NameBytes
  /// Whether existing files are replaced.
  public var overwrites: Bool
  /// Concurrent ranges of one file; nil leaves it to the protocol.
  public var segments: Int?
  /// Whether files get the modification time that their server reports.
  public var keepsTime = true
  /// Whether runs of zeros are stored as holes.
  public var isSparse = false
  /// The program, with its arguments, that supplies a URL for the key of a file; empty for none. Contains no secret.
  public var urlCommand: [String] = []
  /// Whether files get the names that their servers send, in their recorded folders.
  public var usesRemoteNames = false
  /// Whether unchanged blocks of existing files are reused as far as their servers publish checksums (`.zsync`).
  public var usesZsync = false

  public init(folder: NameBytes, overwrites: Bool = false) {
    (self.folder, self.overwrites) = (folder, overwrites)
  }
}

extension DownloadSettings: Codable {
  private enum Key: String, CodingKey {
    case folder, overwrites, segments, keepsTime, isSparse, urlCommand, remoteNames, zsync
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    folder = NameBytes(embedded: try values.decode(String.self, forKey: .folder))
    overwrites = try values.decode(Bool.self, forKey: .overwrites)
    segments = try values.decodeIfPresent(Int.self, forKey: .segments)
    keepsTime = try values.decodeIfPresent(Bool.self, forKey: .keepsTime) ?? true
    isSparse = try values.decodeIfPresent(Bool.self, forKey: .isSparse) ?? false
    urlCommand = try values.decodeIfPresent([String].self, forKey: .urlCommand) ?? []
    usesRemoteNames = try values.decodeIfPresent(Bool.self, forKey: .remoteNames) ?? false
    usesZsync = try values.decodeIfPresent(Bool.self, forKey: .zsync) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(folder.embedded, forKey: .folder)
    try values.encode(overwrites, forKey: .overwrites)
    try values.encodeIfPresent(segments, forKey: .segments)
    if !keepsTime { try values.encode(keepsTime, forKey: .keepsTime) }
    if isSparse { try values.encode(isSparse, forKey: .isSparse) }
    if usesRemoteNames { try values.encode(usesRemoteNames, forKey: .remoteNames) }
    if usesZsync { try values.encode(usesZsync, forKey: .zsync) }
    if !urlCommand.isEmpty { try values.encode(urlCommand, forKey: .urlCommand) }
  }
}

extension BatchSettings {
  public var direction: Direction { download == nil ? .upload : .download }
}
