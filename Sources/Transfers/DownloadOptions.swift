public import TransferModel

/// What one `pull` was asked to do.
public struct DownloadOptions: Sendable {
  /// URLs of single files, all of one origin.
  public var urls: [String]
  /// The folder that they go to, under the last component of their paths.
  public var folder: NameBytes
  /// Replaces files that are there.
  public var overwrites = false
  public var name: String?
  public var labels: [String: String] = [:]
  public var priority = 0
  /// What the protocol is told, by the long names of its options without dashes.
  public var options: [String: OptionValue] = [:]
  /// A reference to a credential, as ``BatchSettings/auth``.
  public var auth: String?
  public var caFile: String?

  public init(urls: [String], folder: NameBytes) { (self.urls, self.folder) = (urls, folder) }
}
