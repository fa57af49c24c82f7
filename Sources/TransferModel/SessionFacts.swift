/// An upload session on a server, as recorded and as protocols see it.
package struct SessionFacts: Sendable, Hashable {
  /// nil while `intended`.
  package var remoteID: String?
  /// Milliseconds since 1970 UTC: written before the create call was sent.
  package var intendedAtMs: Int64
  /// Milliseconds since 1970 UTC; nil when the server named none.
  package var expiresAtMs: Int64?
  /// Notes of the protocol about this session: tokens, progress of the last steps.
  package var notes: [String: String]
  /// A request before the claim added bytes to it, or may have.
  package var mayHoldBytes = false

  package init(remoteID: String?, intendedAtMs: Int64, expiresAtMs: Int64? = nil, notes: [String: String] = [:]) {
    self.remoteID = remoteID
    self.intendedAtMs = intendedAtMs
    self.expiresAtMs = expiresAtMs
    self.notes = notes
  }
}
