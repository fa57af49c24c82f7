/// What a protocol can do, for people: a row of `transfers help protocols`. Each protocol says it of itself.
public struct ProtocolDescription: Sendable, Hashable {
  /// As stored with each batch.
  public var name: String
  /// How destinations begin.
  public var destination: String
  /// A whole destination, as an example.
  public var usage: String
  /// What it does, in a line.
  public var about: String
  /// What else people have to know; paragraphs for `transfers help protocols`, empty for none.
  public var notes: String
  /// Several requests of one file at a time; in words.
  public var parallel: String
  /// A broken upload resumes mid-file.
  public var isResumable: Bool
  /// What the server is asked before anything is sent again; empty when the server cannot be asked.
  public var probe: String
  /// Which digests tie what is stored to what was sent.
  public var digest: String
  /// What becomes of a request whose answer was lost: exactly once, or why not.
  public var exactlyOnce: String

  public init(
    name: String, destination: String, usage: String, about: String, parallel: String = "no",
    isResumable: Bool = false, probe: String = "",
    digest: String, exactlyOnce: String, notes: String = ""
  ) {
    self.name = name
    self.destination = destination
    self.usage = usage
    self.about = about
    self.notes = notes
    self.parallel = parallel
    self.isResumable = isResumable
    self.probe = probe
    self.digest = digest
    self.exactlyOnce = exactlyOnce
  }
}
