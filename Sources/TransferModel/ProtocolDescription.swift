/// What a protocol can do, for people: a row of `transfers help protocols`. Each protocol says it of itself.
public struct ProtocolDescription: Sendable, Hashable {
  /// As stored with each batch.
  public var name: String
  /// How destinations begin.
  public var destination: String
  /// Several requests of one file at a time; in words.
  public var parallel: String
  /// A broken upload resumes mid-file.
  public var isResumable: Bool
  /// What the server is asked before anything is sent again; empty when there is nobody to ask.
  public var probe: String
  /// Which digests tie what is stored to what was sent.
  public var digest: String
  /// What becomes of a request whose answer was lost: exactly once, or why not.
  public var exactlyOnce: String

  public init(
    name: String, destination: String, parallel: String = "no", isResumable: Bool = false, probe: String = "",
    digest: String, exactlyOnce: String
  ) {
    self.name = name
    self.destination = destination
    self.parallel = parallel
    self.isResumable = isResumable
    self.probe = probe
    self.digest = digest
    self.exactlyOnce = exactlyOnce
  }
}
