/// The rows of a table as one strip: the chunks of a file in the order of their bytes. Adjacent chunks in the same
/// state are merged, so that ten thousand done chunks are drawn as one rectangle.
enum HTMLStrip {
  private struct Piece {
    let state: String
    var rows: Int
    var length: Double
  }

  static func svg(_ table: FigureTable, state: String, length: String) -> String {
    guard let states = table.index(state) else { return "" }
    var pieces: [Piece] = []
    for (row, value) in zip(table.rows, table.numbers(length)) {
      // Empty or unknown chunks are still visible.
      let (word, length) = (row[states].text, max(1, value))
      if pieces.last?.state == word {
        pieces[pieces.count - 1].rows += 1
        pieces[pieces.count - 1].length += length
      } else {
        pieces.append(Piece(state: word, rows: 1, length: length))
      }
    }
    return table.rows.count > 1 ? drawn(pieces, rows: table.rows.count) : ""
  }

  /// A strip for each row that has a map of more than one chunk (``ChunkMapFigures``), and one legend for all.
  static func svg(_ table: FigureTable, name: String, map: String) -> String {
    guard let names = table.index(name), let maps = table.index(map) else { return "" }
    let rows = table.rows.filter { $0[maps].text.count > 1 }
    guard !rows.isEmpty else { return "" }
    let (left, line) = (70.0, 22.0)
    var (out, counts) = (
      HTMLChart.open("chunks of each row", HTMLChart.width, line * Double(rows.count)), [String: Int]()
    )
    for (row, cells) in rows.enumerated() {
      let (y, marks) = (Double(row) * line, Array(cells[maps].text))
      out += HTMLChart.text(left - 8, y + 15, "end", DisplayWidth.cutMiddle(cells[names].text, to: 10))
      let step = (HTMLChart.width - left) / Double(marks.count)
      var from = 0
      while from < marks.count {
        let mark = marks[from]
        let count = marks[from...].prefix { $0 == mark }.count
        let words = ChunkMapFigures.words(of: mark)
        counts[words, default: 0] += count
        out += HTMLChart.rectangle(
          left + Double(from) * step, y + 2, max(0.5, Double(count) * step), line - 4, tint(mark),
          "\(cells[names].text): \(Quantity.count(count, "chunk")) \(words)")
        from += count
      }
    }
    let legend = ChunkMapFigures.marks.compactMap { mark in
      counts[mark.words].map { "<li class=\"\(tint(mark.mark))\">\(mark.words) <b>\($0)</b></li>" }
    }
    return out + "</svg></div><ul class=\"legend\">" + legend.joined() + "</ul>"
  }

  private static func tint(_ mark: Character) -> String {
    switch mark {
    case "#", "=": "good"
    case ">": "moving"
    case "+": "p6"
    case "~": "caution"
    case "!", "?": "bad"
    default: "rest"
    }
  }

  private static func drawn(_ pieces: [Piece], rows: Int) -> String {
    let whole = pieces.map(\.length).reduce(0, +)
    var out = HTMLChart.open(Quantity.count(rows, "chunk"), HTMLChart.width, 28, stretches: true)
    var x = 0.0
    for piece in pieces {
      let width = piece.length / whole * HTMLChart.width
      let words = "\(Quantity.count(piece.rows, "chunk")) \(piece.state)"
      out += HTMLChart.rectangle(x, 2, max(0.5, width), 24, HTMLChart.tint(piece.state, 0), words)
      x += width
    }
    var counts: [String: Int] = [:]
    for piece in pieces { counts[piece.state, default: 0] += piece.rows }
    let legend = counts.sorted { $0.key < $1.key }.map { word, count in
      "<li class=\"\(HTMLChart.tint(word, 0))\">\(HTMLText.escaped(word)) <b>\(count)</b></li>"
    }
    return out + "</svg></div><ul class=\"legend\">" + legend.joined() + "</ul>"
  }
}
