/// One invocation of the engine.
public struct RunRow: Sendable, Hashable {
  public var id: RunID
  public var host: String
  public var pid: Int64
  public var version: String
  public var startedMs: Int64
  public var heartbeatMs: Int64
  public var endedMs: Int64?
  /// `done`, `drained`, `interrupted`, `crashed`, `failed: …`; nil while it runs.
  public var how: String?
  public var bootID: String
  /// By the clock of that boot; nil in rows of older programs.
  public var heartbeatBootMs: Int64?

  package init(
    id: RunID, host: String, pid: Int64, version: String, startedMs: Int64, heartbeatMs: Int64, endedMs: Int64?,
    how: String?, bootID: String, heartbeatBootMs: Int64?
  ) {
    self.id = id
    self.host = host
    self.pid = pid
    self.version = version
    self.startedMs = startedMs
    self.heartbeatMs = heartbeatMs
    self.endedMs = endedMs
    self.how = how
    self.bootID = bootID
    self.heartbeatBootMs = heartbeatBootMs
  }
}
