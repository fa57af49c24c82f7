import TransferModel

/// The header of a document.
public struct ReportHeader: Sendable {
  public let store: StoreIdentity
  /// The selection, by the names of its options.
  public let filters: [String: Cell]
  /// Milliseconds since 1970 UTC.
  public let generatedMs: Int64
  /// The conditions of the report.
  public let checks: [ReportCheck]

  public init(
    store: StoreIdentity, filters: [String: Cell] = [:], generatedMs: Int64, checks: [ReportCheck] = []
  ) {
    (self.store, self.filters, self.generatedMs, self.checks) = (store, filters, generatedMs, checks)
  }

  /// The members of a document besides `data`.
  public func members(schema: String) -> [FigureTree.Member] {
    [
      FigureTree.Member("schema", .figure(.text(schema))),
      FigureTree.Member("generated_at", .figure(.time(generatedMs))), FigureTree.Member("store", store.tree),
      FigureTree.Member("filters", .object(filters.map { FigureTree.Member($0.key, .figure($0.value)) })),
    ] + checks.members
  }
}

/// The ledger that a document is about.
public struct StoreIdentity: Sendable, Hashable {
  public var path: Cell
  public var uid: Cell
  public var schemaVersion: Cell

  /// For a ledger that could not be opened, or does not exist yet.
  public init(path: String?) {
    self.path = path.map { .name(NameBytes($0)) } ?? .none
    uid = .none
    schemaVersion = .none
  }

  var tree: FigureTree {
    .object([
      FigureTree.Member("path", .figure(path)), FigureTree.Member("uid", .figure(uid)),
      FigureTree.Member("schema_version", .figure(schemaVersion)),
    ])
  }
}
