import TransferModel

/// The columns of `report failures`.
package enum FailureFigures {
  package static let columns: [Column<FailureRow>] = [
    .text("error_code", "Error") { $0.code }.label(),
    .text("category", "Category") { $0.category }.label(),
    .integer("files", "Files") { $0.files },
    .integer("attempts", "Attempts") { $0.attempts },
    .time("first_at", "First") { $0.firstMs },
    .time("last_at", "Last") { $0.lastMs },
    .name("example_path", "Example") { $0.examplePath },
    .text("example_host", "Its host") { $0.exampleHost },
    .text("example_message") { $0.exampleMessage },
    .text("hint") { $0.hint.isEmpty ? nil : $0.hint },
  ]

  /// Figures of files only, for `status` and `show`, which do not read attempts.
  package static let ofFiles = columns.filter { $0.key != "attempts" }

  /// With the message, for a page that is wide enough.
  static let onPage = columns.map { $0.key == "example_message" ? $0.titled("Message") : $0 }

  /// The columns printed at the end of a run.
  package static let inShort: [Column<FailureRow>] = [
    .integer("files", "Files") { $0.files },
    .text("error_code", "Error") { $0.code },
    .text("example_message", "Message") { $0.exampleMessage },
    .name("example_path", "Example") { $0.examplePath },
  ]
}

/// The columns of `report failures --by`.
package enum FailureGroupFigures {
  /// Columns of `kinds` are displayed; programs get all, unknown if not requested.
  package static func columns(_ kinds: Set<FailureGroup.Kind>) -> [Column<FailureGroup>] {
    func title(_ kind: FailureGroup.Kind, _ title: String) -> String? { kinds.contains(kind) ? title : nil }
    return [
      .text("error_code", title(.code, "Error")) { $0.code }.label(),
      .text("host", title(.host, "Host")) { $0.host }.label(),
      .integer("hour", title(.hour, "Hour (UTC)")) { $0.hour }.label(),
      .name("path_prefix", title(.pathPrefix, "Folder")) { $0.folder }.label(),
      .integer("files", "Files") { $0.files },
      .integer("attempts", "Attempts") { $0.attempts },
      .time("first_at", "First") { $0.firstMs },
      .time("last_at", "Last") { $0.lastMs },
      .name("example_path", "Example") { $0.examplePath },
    ]
  }
}

/// One value of a facet, its count, and the options that select it.
package struct FacetRow: Sendable, Hashable {
  package var facet: String
  package var value: String?
  package var files: Int64?
  package var attempts: Int64?
  /// nil if it cannot be selected.
  package var filter: String?

  package init(facet: String, value: String?, files: Int64?, attempts: Int64?, filter: String?) {
    (self.facet, self.value, self.files, self.attempts, self.filter) = (facet, value, files, attempts, filter)
  }
}

/// The columns of a report with `--facet`.
package enum FacetFigures {
  package static let columns: [Column<FacetRow>] = [
    .text("facet", "Facet") { $0.facet }.label(),
    .text("value", "Value") { $0.value }.label(),
    .integer("files", "Files") { $0.files },
    .integer("attempts", "Attempts") { $0.attempts },
    .text("filter", "Filter") { $0.filter },
  ]
}
