/// A sleep of the machine while an engine ran. The ledger records it as an event at the time of waking.
package struct MachineSleep: Sendable, Hashable {
  package static let verb = "slept"
  private static let words = (before: "the machine slept for ", after: " ms")

  package let lengthMs: Int64

  package init(lengthMs: Int64) { self.lengthMs = lengthMs }

  /// For people to read, and for ``init(detail:)``.
  package var detail: String { "\(Self.words.before)\(lengthMs)\(Self.words.after)" }

  /// nil if the text is not the detail of such an event.
  package init?(detail: String) {
    guard detail.hasPrefix(Self.words.before), detail.hasSuffix(Self.words.after),
      let length = Int64(detail.dropFirst(Self.words.before.count).dropLast(Self.words.after.count)), length > 0
    else { return nil }
    lengthMs = length
  }
}
