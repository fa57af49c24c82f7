/// Sources that are to be deleted or moved and are still there. What a person revoked or tidied away does not count,
/// nor what newer content has replaced.
public struct RemovalTotals: Sendable, Hashable {
  /// To be done, or to be tried again.
  public var waiting = 0
  /// Of those: nothing could be tried, for the reason that they have.
  public var putOff = 0
  /// The sources stay, for good.
  public var kept = 0
  /// Why they are still there, most sources first; those that nobody has tried yet have none.
  public var reasons: [Reason] = []

  public struct Reason: Sendable, Hashable {
    /// They stay for good.
    public var isKept: Bool
    public var code: String
    /// For people, of one of them.
    public var message: String
    public var sources: Int

    public init(isKept: Bool, code: String, message: String, sources: Int) {
      (self.isKept, self.code, self.message, self.sources) = (isKept, code, message, sources)
    }
  }

  public init() {}

  public var isEmpty: Bool { waiting == 0 && kept == 0 }
}
