public import TransferModel

/// The data that is recorded about one run of the engine.
public struct NewRun: Sendable, Hashable {
  /// The command line, already without secrets.
  public var argv: [String]
  public var version: String
  public var host: String
  /// Identifier of this boot of the machine; a pid has no meaning in another boot.
  public var bootID: String
  public var pid: Int32
  /// The current time by the clock of that boot.
  public var bootMs: Int64?

  public init(
    argv: [String], version: String, host: String, bootID: String, pid: Int32, bootMs: Int64? = nil
  ) {
    self.bootMs = bootMs
    self.argv = argv
    self.version = version
    self.host = host
    self.bootID = bootID
    self.pid = pid
  }
}

/// A session that must be aborted on its server, with the attempt that was opened for this.
public struct AbortWork: Sendable, Hashable {
  package var session: SessionID
  /// nil for a download, whose partial file is removed without a request.
  public var attempt: AttemptID?
  public var file: FileID
  package var uid: UID
  /// The copied ledger that made the partial file of a download; nil for the original.
  package var partialOf: UID?
  public var key: NameBytes
  public var size: Int64
  public var mtimeNs: Int64
  public var batch: BatchID
  /// nil if the answer to the create call was lost: the server must be queried for it.
  public var remoteID: String?
  public var intendedAtMs: Int64
  /// The protocol state of the session, and of those of its chunks that have any.
  public var notes: [String: String] = [:]
  public var remotes: [[String: String]] = []
  /// Path of the local file.
  public var path = NameBytes("")
  public var direction = Direction.upload
  /// The file continues with another session.
  public var isLive = false
}

/// Files that are not at rest, by state. Each number is read from an index of just these rows.
public struct WorkLeft: Sendable, Hashable {
  /// `pending`, may start now.
  public var ready: Int
  /// `pending` with a `not_before`.
  public var waiting: Int
  /// `active` or `finishing`.
  public var active: Int
  /// `paused`: not done, but an engine has nothing to do.
  public var paused: Int
  /// `settling`: their sources may still be written, or must be staged.
  public var settling: Int
  /// Sessions at servers that wait for their abort.
  public var aborts: Int

  public init(ready: Int, waiting: Int, active: Int, paused: Int = 0, settling: Int = 0, aborts: Int) {
    self.settling = settling
    self.ready = ready
    self.waiting = waiting
    self.active = active
    self.paused = paused
    self.aborts = aborts
  }

  /// Files that an engine still has to complete.
  public var files: Int { ready + waiting + active }
}
