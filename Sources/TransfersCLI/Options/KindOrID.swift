import ArgumentParser
import Transfers
import TransferModel

/// The first argument of `list` and `report`: the kind of rows or, if that is omitted, already an ID.
struct KindOrID<Kind: RawRepresentable & CaseIterable & Sendable>: ExpressibleByArgument, Sendable
where Kind.RawValue == String {
  /// nil when it was left out.
  let kind: Kind?
  let id: String?

  init(_ kind: Kind) { (self.kind, id) = (kind, nil) }

  /// nil for what is neither.
  init?(argument: String) {
    if let kind = Kind(rawValue: argument) {
      (self.kind, id) = (kind, nil)
    } else if argument == "-" || RowSelector(text: argument) != nil || UIDPrefix(text: argument) != nil {
      (kind, id) = (nil, argument)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String { kind?.rawValue ?? "" }
  static var allValueStrings: [String] { Kind.allCases.map(\.rawValue) }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

  /// Refuses an ID together with --all.
  func check(_ rows: SelectionOptions) throws {
    if id != nil, rows.rows.all { throw ValidationError("--all selects everything and excludes IDs") }
  }
}
