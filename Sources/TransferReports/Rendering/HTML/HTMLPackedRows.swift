/// Rows of a large table in a compact form, which the script of the page expands: a page of 10,000 files stays below 1
/// MB including all of them.
///
/// An array of rows, each an array of cells: `0` is the cell above, `1` the cell to the left, a string is text,
/// `[number]` a number, `["text", value]` a figure with the value by which it is sorted, `["text", null, "class"]` text
/// of a class, and `[count, "rest"]` the first characters of the cell above and the rest. A cell beyond the last column
/// is a remark.
struct HTMLPackedRows {
  /// A cell as the script sees it.
  struct Cell: Sendable, Hashable {
    var text: String
    var value: String?
    var style: String?
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
    let row = (count == 0 ? "[" : ",[") + packed.joined(separator: ",") + "]"
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

  private static func packed(_ cell: Cell, above: Cell?, left: Cell?) -> String {
    if cell == above { return "0" }
    if cell == left { return "1" }
    let text = JSONWriter.text(.text(cell.text))
    if let style = cell.style { return "[\(text),\(cell.value ?? "null"),\"\(style)\"]" }
    // A number in a script has 15 decimal digits that are exact.
    if let value = cell.value { return value == cell.text && value.count <= 15 ? "[\(value)]" : "[\(text),\(value)]" }
    let shared = above.map { commonPrefix(cell.text, $0.text) } ?? 0
    guard shared > 4, above?.value == nil, above?.style == nil else { return text }
    let rest = String(decoding: Array(cell.text.utf8)[shared...], as: UTF8.self)
    return "[\(shared),\(JSONWriter.text(.text(rest)))]"
  }

  /// Only ASCII characters: bytes here, and string units in the script.
  private static func commonPrefix(_ a: String, _ b: String) -> Int {
    zip(a.utf8, b.utf8).prefix { $0 == $1 && $0 < 0x80 }.count
  }
}
