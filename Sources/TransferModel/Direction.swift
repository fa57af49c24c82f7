/// Which way the bytes of a batch go; raw values are stored in the ledger.
public enum Direction: String, Sendable, CaseIterable, Codable {
  /// From a local file to a remote object.
  case upload
  /// From a remote object to a local file.
  case download
}

/// What a download was asked to do besides what all batches are asked.
public struct DownloadSettings: Sendable, Hashable, Codable {
  /// Replaces files that are there.
  public var overwrites: Bool

  public init(overwrites: Bool) { self.overwrites = overwrites }
}

extension BatchSettings {
  public var direction: Direction { download == nil ? .upload : .download }
}
