/// The abilities of a protocol, for people: a row of `transfers help protocols`. Each protocol declares its own.
public struct ProtocolDescription: Sendable, Hashable {
  /// As stored with each batch.
  public var name: String
  /// The beginning of its destinations.
  public var destination: String
  /// A whole destination, as an example.
  public var usage: String
  /// A one-line description.
  public var about: String
  /// Further information; paragraphs for `transfers help protocols`, empty for none.
  public var notes: String
  /// How requests of one file can run in parallel, in words.
  public var parallel: String
  /// An interrupted upload resumes mid-file.
  public var isResumable: Bool
  /// The query before anything is sent again; empty if the server cannot be queried.
  public var probe: String
  /// The digests with which the stored content is compared with the sent content.
  public var digest: String
  /// The handling of a lost answer: exactly once, or why not.
  public var exactlyOnce: String

  package init(
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
