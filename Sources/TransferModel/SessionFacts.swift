/// An upload session at a server, as it is recorded and as a protocol sees it.
public struct SessionFacts: Sendable, Hashable {
  /// nil while `intended`.
  public var remoteID: String?
  /// Milliseconds since 1970 UTC: written before the create call was sent.
  public var intendedAtMs: Int64
  /// Milliseconds since 1970 UTC; nil when the server named none.
  public var expiresAtMs: Int64?
  /// What the protocol wanted to remember about this session : tokens, how far the last steps are.
  public var notes: [String: String]
  /// A request brought bytes to it before the file was claimed, or may have.
  public var mayHoldBytes = false

  public init(remoteID: String?, intendedAtMs: Int64, expiresAtMs: Int64? = nil, notes: [String: String] = [:]) {
    self.remoteID = remoteID
    self.intendedAtMs = intendedAtMs
    self.expiresAtMs = expiresAtMs
    self.notes = notes
  }
}
