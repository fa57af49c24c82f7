import TransferModel

/// The progress of a listing, in the notes of its session.
///
/// A server with circular continuation markers would be queried endlessly. Only one page is remembered, the one whose
/// number was the last power of two: a cycle returns to it after at most three times as many pages as lead into the
/// cycle and around it (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980).
struct ListingProgress {
  private enum Key {
    static let next = "next", found = "found", skipped = "skipped", pages = "pages", empty = "empty"
    static let earlierNext = "earlier_next", earlierKey = "earlier_key"
  }
  /// A server may omit deleted or inaccessible entries, so that pages can be empty.
  private static let mostEmpty = 1_000

  /// The protocol's marker of the next page; nil before the first and after the last.
  var next: String?
  var found = 0
  var skipped = 0
  private var pages = 0
  /// Consecutive empty pages up to the last one.
  private var empty = 0
  /// The remembered page: the marker of its successor, and its last key, percent-encoded.
  private var earlier: (next: String, key: String)

  init(_ session: SessionFacts?) {
    let notes = session?.notes ?? [:]
    func number(_ key: String) -> Int { notes[key].flatMap { Int($0) } ?? 0 }
    next = notes[Key.next]
    (found, skipped, pages, empty) = (number(Key.found), number(Key.skipped), number(Key.pages), number(Key.empty))
    earlier = (notes[Key.earlierNext] ?? "", notes[Key.earlierKey] ?? "")
  }

  var notes: [String: String] {
    [
      Key.next: next ?? "", Key.found: String(found), Key.skipped: String(skipped), Key.pages: String(pages),
      Key.empty: String(empty), Key.earlierNext: earlier.next, Key.earlierKey: earlier.key,
    ]
  }

  /// Handles a page with `objects` and `skipped` folder markers; `next` is the marker of its successor, and `last` its
  /// last key. A failure if the listing does not advance.
  mutating func page(
    _ objects: [ListedObject], skipped: Int, next: String?, last: NameBytes? = nil
  ) -> Interpretation {
    self.next = next
    found += objects.count + skipped
    self.skipped += skipped
    if let next, let text = loop(next, last) { return .failed(Failure(.protoBadReply, text), .permanent) }
    return Interpretation(
      .listed(ListedPage(objects: objects, isLast: next == nil, found: found, skipped: self.skipped))
    ).with(notes: notes)
  }

  /// Why the listing would never end; nil if there is no sign of that.
  private mutating func loop(_ next: String, _ last: NameBytes?) -> String? {
    pages += 1
    empty = last == nil ? empty + 1 : 0
    let key = last.map { PercentEncoding.component($0.bytes) } ?? ""
    if pages > 1, next == earlier.next || (!key.isEmpty && key == earlier.key) {
      return "page \(pages) of the list refers back to an earlier one: the list is circular"
    }
    if empty >= Self.mostEmpty { return "\(empty) consecutive pages of the list are empty, and it does not end" }
    if pages & (pages - 1) == 0 { earlier = (next, key) }
    return nil
  }
}
