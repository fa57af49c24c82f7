/// Sources that are to be deleted or moved and still exist. Excludes removals that a person revoked, hidden files, and
/// sources that were superseded by newer content or removed by somebody else.
public struct RemovalTotals: Sendable, Hashable {
  /// Removals that are to be performed or retried.
  public var waiting = 0
  /// The part of ``waiting`` that was postponed because the removal could not be attempted.
  public var putOff = 0
  /// Sources that are kept permanently.
  public var kept = 0
  /// The reasons why they still exist, most sources first; sources without an attempt have none.
  public var reasons: [Reason] = []

  public struct Reason: Sendable, Hashable {
    /// Whether the sources are kept permanently.
    public var isKept: Bool
    public var code: String
    /// The message for one of them, for people.
    public var message: String
    public var sources: Int

    package init(isKept: Bool, code: String, message: String, sources: Int) {
      (self.isKept, self.code, self.message, self.sources) = (isKept, code, message, sources)
    }
  }

  package init() {}

  public var isEmpty: Bool { waiting == 0 && kept == 0 }
}
