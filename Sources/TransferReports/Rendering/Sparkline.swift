/// A row of bars, one character for each figure.
package enum Sparkline {
  private static let blocks = Array("▁▂▃▄▅▆▇█")
  private static let ascii = Array("_.:-=+*#")

  /// Shows the highest figure of each group if there are more figures than `columns`. A figure of 0 is a blank, so that
  /// pauses are visible.
  package static func text(_ values: [Int64], columns: Int, isASCII: Bool) -> String {
    guard let highest = values.max(), highest > 0, columns > 0 else { return "" }
    let width = min(columns, values.count)
    let glyphs = isASCII ? ascii : blocks
    return String(
      (0..<width).map { column -> Character in
        let group = values[(column * values.count / width)..<((column + 1) * values.count / width)]
        guard let value = group.max(), value > 0 else { return " " }
        let level = Double(value) / Double(highest) * Double(glyphs.count)
        return glyphs[min(glyphs.count - 1, max(0, Int(level.rounded(.up)) - 1))]
      })
  }
}
