import TransferModel

/// Sources that `--after` was to delete or move and that still exist, as figures and words.
package enum RemovalFigures {
  /// Columns of any value that has such totals.
  package static func columns<Value>(_ totals: @escaping @Sendable (Value) -> RemovalTotals) -> [Column<Value>] {
    [
      .integer("sources_to_remove", "to delete or move") { totals($0).waiting }.saying { waiting(totals($0)) },
      .integer("sources_put_off") { totals($0).putOff },
      .integer("sources_kept", "sources kept") { totals($0).kept }.saying { kept(totals($0)) },
    ]
  }

  /// The reasons why they still exist, for programs. For people, the figures include the most frequent reason.
  package static func reasons<Value>(
    _ totals: @escaping @Sendable (Value) -> RemovalTotals
  ) -> SectionForm<Value> {
    .table("removals", nil, reasonColumns, TableLook(isForPrograms: true)) { totals($0).reasons }
  }

  private static let reasonColumns: [Column<RemovalTotals.Reason>] = [
    .text("state", "State") { $0.isKept ? "kept" : "waiting" }, .text("cause", "Cause") { $0.code },
    .text("message", "Message") { $0.message }, .integer("sources", "Sources") { $0.sources },
  ]

  /// `3 sources, 2 put off: its folder does not exist`; nil if there are none.
  package static func waiting(_ totals: RemovalTotals) -> String? {
    guard totals.waiting > 0 else { return nil }
    let putOff =
      totals.putOff == 0 ? "" : ", \(totals.putOff == totals.waiting ? "put off" : "\(totals.putOff) put off")"
    return Quantity.count(totals.waiting, "source") + putOff + why(totals, isKept: false)
  }

  /// `2 that --after was to delete or move: it has changed since it was sent`; nil if there are none.
  static func kept(_ totals: RemovalTotals) -> String? {
    guard totals.kept > 0 else { return nil }
    return "\(totals.kept) that --after was to delete or move" + why(totals, isKept: true)
  }

  /// `2 sources that --after was to delete or move stay: …; 1 source waits …`, for the caller; nil if there are none.
  package static func remark(_ totals: RemovalTotals) -> String? {
    var parts: [String] = []
    if totals.kept > 0 {
      parts.append(
        "\(Quantity.count(totals.kept, "source")) that --after was to delete or move "
          + (totals.kept == 1 ? "stays" : "stay")
          + why(totals, isKept: true))
    }
    if totals.waiting > 0 {
      parts.append(
        "\(Quantity.count(totals.waiting, "source")) \(totals.waiting == 1 ? "waits" : "wait") to be deleted or moved by a "
          + "later run" + why(totals, isKept: false))
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private static func why(_ totals: RemovalTotals, isKept: Bool) -> String {
    let reasons = totals.reasons.filter { $0.isKept == isKept }
    guard let first = reasons.first else { return "" }
    let more = reasons.count > 1 ? " (\(first.sources)), and \(Quantity.count(reasons.count - 1, "other reason"))" : ""
    return ": \(printable(first.message.isEmpty ? first.code : first.message))" + more
  }
}
