/// An ended attempt, for span collectors.
public struct SpanRow: Sendable, Hashable {
  public var attempt: FollowedAttempt
  public var fileUID: UID
  public var isDownload: Bool
  /// Name and port of the server.
  public var host: String
  public var httpVersion: String?
  /// Machine and version of the program that made the attempt.
  public var machine: String
  public var version: String

  package init(
    _ attempt: FollowedAttempt, file: UID, isDownload: Bool, host: String, httpVersion: String?,
    machine: String, version: String
  ) {
    (self.attempt, fileUID, self.isDownload) = (attempt, file, isDownload)
    (self.host, self.httpVersion, self.machine, self.version) = (host, httpVersion, machine, version)
  }
}
