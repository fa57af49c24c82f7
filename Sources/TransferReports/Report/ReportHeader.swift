import TransferModel

/// The header of a document.
package struct ReportHeader: Sendable {
  package let store: StoreIdentity
  /// The selection, by the names of its options.
  package let filters: [String: Cell]
  /// Milliseconds since 1970 UTC.
  package let generatedMs: Int64
  /// The conditions of the report.
  package let checks: [ReportCheck]

  package init(
    store: StoreIdentity, filters: [String: Cell] = [:], generatedMs: Int64, checks: [ReportCheck] = []
  ) {
    (self.store, self.filters, self.generatedMs, self.checks) = (store, filters, generatedMs, checks)
  }

  /// The members of a document besides `data`.
  package func members(schema: String) -> [FigureTree.Member] {
    [
      FigureTree.Member("schema", .figure(.text(schema))),
      FigureTree.Member("generated_at", .figure(.time(generatedMs))), FigureTree.Member("store", store.tree),
      FigureTree.Member("filters", .object(filters.map { FigureTree.Member($0.key, .figure($0.value)) })),
    ] + checks.members
  }
}

/// The ledger that a document is about.
package struct StoreIdentity: Sendable, Hashable {
  package var path: Cell
  package var uid: Cell
  package var schemaVersion: Cell

  /// For a ledger that could not be opened, or does not exist yet.
  package init(path: String?) {
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
