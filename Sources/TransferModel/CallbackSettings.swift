/// One receiver of callbacks: the event, the receiver and the method. Contains references to secrets, never secrets.
public struct CallbackSetting: Sendable, Hashable, Codable {
  public var event: CallbackEvent
  public var kind: CallbackKind
  /// Of ``CallbackKind/exec`` a program and its arguments, as ``ShellWords`` reads them; of ``CallbackKind/mail`` a
  /// program and the addresses; else an `http` or `https` URL,
  /// or a reference to one (`env:NAME`, `file:PATH`, …).
  public var target: String
  /// A reference to the key that signs webhooks; empty for none.
  public var secret = ""

  public init(_ event: CallbackEvent, _ kind: CallbackKind, _ target: String, secret: String = "") {
    (self.event, self.kind, self.target, self.secret) = (event, kind, target, secret)
  }
}

/// The event of a callback.
public enum CallbackEvent: String, Sendable, Hashable, Codable, CaseIterable {
  /// How a file ended.
  case done, failed, unknown
  /// The start or the result of a job run.
  case started, succeeded, unsuccessful

  /// The name in documents: `file.done`, `job.started`.
  public var name: String {
    switch self {
    case .done, .failed, .unknown: "file.\(rawValue)"
    case .started, .succeeded, .unsuccessful: "job.\(rawValue)"
    }
  }
}

/// How a callback is delivered.
public enum CallbackKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// Runs a program with the document on its standard input.
  case exec
  /// Posts the document to a URL.
  case webhook
  /// Notifies a dead man's switch by POST to `URL/start`, `URL` and `URL/fail`.
  case ping
  /// By a program that takes messages as sendmail does: a mail.
  case mail
}

/// The state of a callback.
public enum CallbackState: String, Sendable, Hashable, CaseIterable {
  case waiting, delivering, delivered
  case gaveUp = "gave_up"
  case cancelled
}
