public import TransferModel

/// What is recorded about one invocation of the engine.
public struct NewRun: Sendable, Hashable {
  /// The command line, already without secrets.
  public var argv: [String]
  public var version: String
  public var host: String
  /// Identifier of this boot of the machine; a pid means nothing in another one.
  public var bootID: String
  public var pid: Int32
  /// Now, by the clock of that boot.
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

/// A session at a server that must be ended there, with the attempt that was opened for it.
public struct AbortWork: Sendable, Hashable {
  public var session: SessionID
  public var attempt: AttemptID
  public var file: FileID
  public var uid: UID
  public var key: NameBytes
  public var size: Int64
  public var mtimeNs: Int64
  public var batch: BatchID
  /// nil when the answer to the create call was lost: the server has to be asked for it.
  public var remoteID: String?
  public var intendedAtMs: Int64
  /// What the protocol wanted to remember about the session, and about those chunks of it of which it remembered
  /// anything.
  public var notes: [String: String] = [:]
  public var remotes: [[String: String]] = []
  /// Of the local file.
  public var path = NameBytes("")
  public var direction = Direction.upload
  /// The file goes on, with another session.
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
  /// `paused`: nothing for an engine to do, and yet not done.
  public var paused: Int
  /// `settling`: their sources may still be written, or are to be copied.
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

  /// Files that an engine still has to bring to an end.
  public var files: Int { ready + waiting + active }
}
