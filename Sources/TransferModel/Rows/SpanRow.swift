/// An ended attempt, for span collectors.
package struct SpanRow: Sendable, Hashable {
  package var attempt: FollowedAttempt
  package var fileUID: UID
  package var isDownload: Bool
  /// Name and port of the server.
  package var host: String
  package var httpVersion: String?
  /// Machine and version of the program that made the attempt.
  package var machine: String
  package var version: String

  package init(
    _ attempt: FollowedAttempt, file: UID, isDownload: Bool, host: String, httpVersion: String?,
    machine: String, version: String
  ) {
    (self.attempt, fileUID, self.isDownload) = (attempt, file, isDownload)
    (self.host, self.httpVersion, self.machine, self.version) = (host, httpVersion, machine, version)
  }
}
