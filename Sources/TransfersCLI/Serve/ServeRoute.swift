import HTTPServer
import TransferModel

/// The target of a request. Everything that is served is a command of this program: pages are its reports as HTML,
/// documents its `--json`.
enum ServeRoute: Hashable, Sendable {
  /// Shows only that the server runs.
  case health
  /// Exchanges the token for a cookie.
  case session
  case metrics
  /// A page of its own.
  case view(ServeView.Kind, id: String?)
  /// A report or list, shown as a page.
  case page([String])
  /// The document of such a page, or of a command.
  case viewDocument(ServeView.Kind)
  case document([String])
  /// Changes files.
  case verb(ServeVerb)

  /// nil for an unknown path.
  init?(_ path: [String]) {
    switch path {
    case []: self = .view(.overview, id: nil)
    case ["healthz"]: self = .health
    case ["session"]: self = .session
    case ["metrics"]: self = .metrics
    case ["now"]: self = .view(.now, id: nil)
    case ["history"]: self = .view(.history, id: nil)
    case ["files"], ["batches"], ["attempts"]: self = .page(["list", path[0]])
    case let path where path.count == 2 && ["files", "batches"].contains(path[0]):
      guard Self.isID(path[1]), path[1].first == path[0].first else { return nil }
      self = .view(path[0] == "files" ? .file : .batch, id: path[1])
    case let path where path.count == 2 && path[0] == "report":
      guard Self.reports.contains(path[1]) else { return nil }
      self = .page(["report", path[1]])
    case let path where path.starts(with: ["api", "v1"]):
      guard let route = Self.api(Array(path.dropFirst(2))) else { return nil }
      self = route
    default: return nil
    }
  }

  private static func api(_ path: [String]) -> ServeRoute? {
    if path.count == 1, let verb = ServeVerb(rawValue: path[0]) { return .verb(verb) }
    switch path {
    case ["now"]: return .viewDocument(.now)
    case ["history"]: return .viewDocument(.history)
    case ["status"]: return .document(path)
    case ["schema"]: return .document(["store", "schema"])
    case let path where path.count == 1 && ListCommand.Kind(rawValue: path[0]) != nil: return .document(["list"] + path)
    case let path where path.count == 2 && path[0] == "report" && reports.contains(path[1]): return .document(path)
    case let path where path.count == 2 && ["show", "why"].contains(path[0]) && isID(path[1]): return .document(path)
    default: return nil
    }
  }

  /// All reports except `trace`, which writes a file, and `otlp`, which sends what it reads to another server.
  private static let reports = Set(ReportCommand.Kind.allCases.map(\.rawValue)).subtracting(["trace", "otlp"])

  /// An ID like `f12`; it becomes an argument, so it must not be an option or `-`.
  static func isID(_ text: String) -> Bool {
    text.utf8.count <= 64 && text.first?.isLetter == true
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
  }

  /// GET never changes anything.
  var methods: [String] {
    switch self {
    case .session, .verb: ["POST"]
    case .health, .metrics, .view, .page, .viewDocument, .document: ["GET", "HEAD"]
    }
  }

  /// Whether the answer changes while bodies are sent, even if the ledger does not. The overview polls `now` itself.
  var showsBytesInFlight: Bool {
    switch self {
    case .view(.now, _), .view(.file, _), .view(.batch, _), .viewDocument(.now), .document(["status"]): true
    case .document(let words) where words.first == "why": true
    case .health, .session, .metrics, .view, .page, .viewDocument, .document, .verb: false
    }
  }

  /// Answers are for people: without a token they explain how to enter.
  var isPage: Bool {
    switch self {
    case .view, .page: true
    case .health, .session, .metrics, .viewDocument, .document, .verb: false
    }
  }
}

/// The verbs that a browser offers, named like the commands.
enum ServeVerb: String, CaseIterable, Sendable {
  case pause, resume, retry, cancel, rm, clean
}
