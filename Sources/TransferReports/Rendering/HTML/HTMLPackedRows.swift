/// Rows of a large table in a compact form, which the script of the page expands: a page of 10,000 files stays below 1
/// MB including all of them.
///
/// An array of rows, each an array of cells: `0` is the cell above, `-3` stands for three of them, `1` is the cell to
/// the left, `2` the cell above with its last number one higher, a string is text, `[number]` a figure whose text
/// follows from the unit of its column, `["text", value]` a figure with the value by which it is sorted, `["text",
/// null, "class"]` text of a class, and `[count, "rest"]` the first characters of the cell above and the rest. A cell
/// beyond the last column is a remark.
struct HTMLPackedRows {
  /// A cell as the script sees it.
  struct Cell: Sendable, Hashable {
    var text: String
    var value: String?
    var style: String?
    /// The script makes the text from the value.
    var isDerived = false
  }

  private(set) var json = "["
  private(set) var count = 0
  private var above: [Cell] = []

  /// Whether the row fits into `budget` bytes; it is left out if not.
  mutating func append(_ cells: [Cell], budget: Int) -> Bool {
    let packed = cells.indices.map { index in
      Self.packed(
        cells[index], above: above.indices.contains(index) ? above[index] : nil,
        left: index > 0 ? cells[index - 1] : nil)
    }
    let row = (count == 0 ? "[" : ",[") + Self.joined(packed) + "]"
    guard json.utf8.count + row.utf8.count < budget else { return false }
    json += row
    count += 1
    above = cells
    return true
  }

  /// The element that holds them until the script runs. Nothing in it can end it or begin a comment.
  func element(of id: String) -> String {
    "<script type=\"application/json\" data-of=\"\(id)\">\(json.replacing("<", with: "\\u003c"))]</script>"
  }

  private static func joined(_ cells: [String]) -> String {
    var (words, repeats) = ([String](), 0)
    for cell in cells + [""] {
      if cell == "0" {
        repeats += 1
        continue
      }
      if repeats > 0 { words.append(repeats == 1 ? "0" : "-\(repeats)") }
      repeats = 0
      if !cell.isEmpty { words.append(cell) }
    }
    return words.joined(separator: ",")
  }

  private static func packed(_ cell: Cell, above: Cell?, left: Cell?) -> String {
    if cell == above { return "0" }
    if cell == left { return "1" }
    let text = JSONWriter.text(.text(cell.text))
    if let style = cell.style { return "[\(text),\(cell.value ?? "null"),\"\(style)\"]" }
    // A number in a script has 15 decimal digits that are exact; one is for the tenths of a size.
    if let value = cell.value { return cell.isDerived && value.count <= 14 ? "[\(value)]" : "[\(text),\(value)]" }
    if let above, isNext(cell.text, after: above) { return "2" }
    let shared = above.map { commonPrefix(cell.text, $0.text) } ?? 0
    guard shared > 4, above?.value == nil, above?.style == nil else { return text }
    let rest = String(decoding: Array(cell.text.utf8)[shared...], as: UTF8.self)
    return "[\(shared),\(JSONWriter.text(.text(rest)))]"
  }

  /// `f718` after `f717`.
  private static func isNext(_ text: String, after above: Cell) -> Bool {
    guard above.value == nil, above.style == nil else { return false }
    let digits = above.text.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
    guard (1...9).contains(digits), let number = Int(above.text.suffix(digits)), "\(number)".utf8.count == digits else {
      return false
    }
    return text == above.text.dropLast(digits) + "\(number + 1)"
  }

  /// Only ASCII characters: bytes here, and string units in the script.
  private static func commonPrefix(_ a: String, _ b: String) -> Int {
    zip(a.utf8, b.utf8).prefix { $0 == $1 && $0 < 0x80 }.count
  }
}
