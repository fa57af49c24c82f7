/// What a batch was asked to do, frozen at `add`: stored with the batch, so that later edits change nothing that runs.
/// Holds references to secrets, never secrets.
public struct BatchSettings: Sendable, Hashable, Codable {
  /// Of the form in which they are stored. A program does not work by settings of a newer one, whose meaning it cannot
  /// know.
  public static let currentVersion = 1
  public private(set) var version = Self.currentVersion
  /// As typed, for example `s3://bucket/prefix/`. Never with user information; the parser refuses it.
  public var destination: String
  /// What its protocol was told, by the long names of its options without dashes. Never a secret.
  public var options: [String: OptionValue]
  /// `basic=env:NAME`, `basic=file:PATH`, `bearer=env:NAME`, `bearer=file:PATH`; nil for none.
  public var auth: String?
  /// PEM file with the certificate authorities to trust instead of the system's.
  public var caFile: String?
  /// Sends a copy of the source that is made when it is added; nil for no.
  public var stage: Bool?
  /// How long a source has to stay as it is before it is sent, in milliseconds; nil for no time.
  public var settleMs: Int64?
  /// Which file shows that a source is complete, as a ``ReadyMarker`` reads it; nil for none.
  public var readyFile: String?
  /// What is done with a source when its file is done; nil keeps it.
  public var after: SourceRemoval?
  /// Who is told what became of its files; nil for nobody. Recorded in rows of their own: settings that are read from a
  /// ledger have none.
  public var callbacks: [CallbackSetting]?
  /// Speaks the protocol that this profile describes, to the destination as its URL.
  public var profile: ProfileSettings?
  /// Fetches what ``destination`` names; nil for an upload.
  public var download: DownloadSettings?

  public init(
    destination: String, options: [String: OptionValue] = [:], auth: String? = nil, caFile: String? = nil,
    stage: Bool? = nil, profile: ProfileSettings? = nil, download: DownloadSettings? = nil
  ) {
    self.destination = destination
    self.options = options
    self.auth = auth
    self.caFile = caFile
    self.stage = stage
    self.profile = profile
    self.download = download
  }
}
