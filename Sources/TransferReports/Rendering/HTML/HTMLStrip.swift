/// The rows of a table as one strip: the chunks of a file in the order of their bytes. Neighbours in the same state are
/// one piece, so that ten thousand chunks that are done are drawn by one rectangle.
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
      // What is empty or not known is still to be seen.
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

  private static func drawn(_ pieces: [Piece], rows: Int) -> String {
    let whole = pieces.map(\.length).reduce(0, +)
    var out = HTMLChart.open(Quantity.count(rows, "chunk"), HTMLChart.width, 28)
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
