/// Sizes that lists and servers declare.
enum ContentSize {
  /// The largest number that all programs parse exactly (RFC 8259 section 6): 9 PB. A thousand of them can be added up.
  static let largest: Int64 = 1 << 53

  /// nil if the text is not a valid size; the size of its file is then unknown.
  static func read(_ text: String) -> Int64? { Int64(text).flatMap { (0...largest).contains($0) ? $0 : nil } }
}
