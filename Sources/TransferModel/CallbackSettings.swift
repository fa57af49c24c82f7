/// What is told to somebody, who it is, and how. Holds references to secrets, never secrets.
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

/// What a callback tells of.
public enum CallbackEvent: String, Sendable, Hashable, Codable, CaseIterable {
  /// How a file came to rest.
  case done, failed, unknown
  /// What a run of a job did.
  case started, succeeded, unsuccessful

  /// As documents name it: `file.done`, `job.started`.
  public var name: String {
    switch self {
    case .done, .failed, .unknown: "file.\(rawValue)"
    case .started, .succeeded, .unsuccessful: "job.\(rawValue)"
    }
  }
}

/// How a callback is delivered.
public enum CallbackKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// To a program: its standard input is the document.
  case exec
  /// To a URL that the document is posted to.
  case webhook
  /// To a dead man's switch: `URL/start`, `URL` and `URL/fail` are posted to.
  case ping
  /// By a program that takes messages as sendmail does: a mail.
  case mail
}

/// Where a callback is.
public enum CallbackState: String, Sendable, Hashable, CaseIterable {
  case waiting, delivering, delivered
  case gaveUp = "gave_up"
  case cancelled
}
