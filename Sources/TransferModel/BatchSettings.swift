/// The settings of a batch, frozen at `add` and stored with the batch, so that later edits do not affect it. Contains
/// references to secrets, never secrets.
public struct BatchSettings: Sendable, Hashable, Codable {
  /// Version of the stored form. A program refuses settings of a newer version, whose meaning it cannot know.
  package static let currentVersion = 1
  public private(set) var version = Self.currentVersion
  /// As typed, for example `s3://bucket/prefix/`. Never with user information; the parser refuses it.
  public var destination: String
  /// Options of its protocol, by their long names without dashes. Never a secret.
  public var options: [String: OptionValue]
  /// `basic=env:NAME`, `basic=file:PATH`, `bearer=env:NAME`, `bearer=file:PATH`; nil for none.
  public var auth: String?
  /// PEM file with the certificate authorities to trust instead of the system's.
  public var caFile: String?
  /// Whether a staged copy of the source, made when it is added, is sent; nil for no.
  public var stage: Bool?
  /// Which part of a grown source is sent; nil for all of it.
  public var growing: GrowingFiles?
  /// Whether a file is skipped if another file has delivered the same content to the same destination; nil for no.
  public var dedupe: Bool?
  /// Whether the receipts of its files have the SHA-256 of the content; nil for no.
  public var recordSHA256: Bool?
  /// How long a source must be unchanged before it is sent, in milliseconds; nil for no wait.
  public var settleMs: Int64?
  /// The marker file that shows that a source is complete, in the syntax of ``ReadyMarker``; nil for none.
  public var readyFile: String?
  /// How a source is removed when its file is done; nil keeps it.
  public var after: SourceRemoval?
  /// The receivers of callbacks about its files; nil for none. Recorded in separate rows: settings that are read from a
  /// ledger have none.
  public var callbacks: [CallbackSetting]?
  /// Rules for the properties of its objects; nil for none. Their results are recorded with each file: settings that
  /// are read from a ledger have none.
  public var rules: [ObjectRule]?
  /// The profile that describes the protocol; the destination is its URL.
  public var profile: ProfileSettings?
  /// Settings of a download from ``destination``; nil for an upload.
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
