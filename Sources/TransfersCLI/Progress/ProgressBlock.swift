import TransferModel
import TransferReports

/// The block on a terminal: a heading, a line a file, the total. Pure: figures and a size in, lines out. No line is
/// wider than the terminal less one column, where some terminals wrap.
struct ProgressBlock: Sendable {
  /// Current size of the terminal.
  var columns = 80
  var rows = 24
  var title = ""
  var units = ByteUnits.iec
  var glyphs = Glyphs.blocks
  var style = TextStyle.plain

  struct Glyphs: Sendable, Hashable {
    var acked, inFlight, rest: Character
    static let blocks = Glyphs(acked: "█", inFlight: "▓", rest: "░")
    static let ascii = Glyphs(acked: "#", inFlight: "=", rest: ".")
  }

  private var width: Int { max(1, columns - 1) }
  private var isNarrow: Bool { columns < 60 }

  func lines(_ figures: ProgressFigures) -> [String] {
    let room = rows - 4
    guard !isNarrow, room > 0 else { return [totalLine(figures)] }
    let files = figures.files.prefix(room)
    let more = max(figures.now.active, figures.files.count) - files.count
    var lines = [heading(figures)] + files.map(fileLine)
    if more > 0, !files.isEmpty { lines.append(" +\(more) more") }
    return lines + [totalLine(figures)]
  }

  private func heading(_ figures: ProgressFigures) -> String {
    let right = "\(figures.now.active) of \(Quantity.count(figures.now.filesTotal, "file")) active"
    let left = DisplayWidth.cutMiddle(title, to: max(0, width - DisplayWidth.of(right) - 2), mark: mark)
    let gap = min(width, 100) - DisplayWidth.of(left) - DisplayWidth.of(right)
    return DisplayWidth.cutMiddle(left + String(repeating: " ", count: max(2, gap)) + right, to: width, mark: mark)
  }

  private var mark: String { glyphs == .ascii ? "~" : "…" }
}

// MARK: - Files

extension ProgressBlock {
  private static let sizeColumns = 15
  private static let rateColumns = 11
  private static let etaColumns = 8

  private var showsRate: Bool { columns >= 80 }
  private var showsETA: Bool { columns >= 100 }
  private var tailColumns: Int {
    2 + Self.sizeColumns + (showsRate ? 2 + Self.rateColumns : 0) + (showsETA ? 2 + Self.etaColumns : 0)
  }
  /// On a wide terminal half of the remaining width is used for longer bars.
  private var barColumns: Int { min(40, 20 + max(0, width - 110) / 2) }
  private var nameColumns: Int { min(60, width - 1 - 2 - barColumns - tailColumns) }

  private func fileLine(_ file: ProgressFigures.File) -> String {
    let progress = file.progress
    let name = DisplayWidth.pad(
      DisplayWidth.cutMiddle(name(progress.path), to: nameColumns, mark: mark), to: nameColumns, alignsRight: false)
    let size = right(Quantity.fraction(progress.bytesMoved, of: progress.bytesTotal, units), Self.sizeColumns)
    guard let phase = ProgressText.phase(progress.phase) else {
      let bar = bar(progress.bytesAcked, progress.bytesMoved, of: progress.bytesTotal, to: barColumns)
      return " \(name)  \(bar)  \(size)" + tail(file)
    }
    let room = width - 3 - nameColumns
    let fits = DisplayWidth.of(phase.text) <= barColumns
    let text = fits ? DisplayWidth.pad(phase.text, to: barColumns, alignsRight: false) : phase.text
    let painted = paint(DisplayWidth.cutMiddle(text, to: room, mark: mark), phase.colour)
    return " \(name)  \(painted)" + (fits ? "  \(size)" : "")
  }

  private func tail(_ file: ProgressFigures.File) -> String {
    var tail = ""
    if showsRate {
      tail += "  " + right(ProgressText.rate(file.bytesPerSecond, units), Self.rateColumns)
    }
    if showsETA { tail += "  " + right(ProgressText.eta(file.etaMs), Self.etaColumns) }
    return tail
  }

  private func right(_ text: String, _ columns: Int) -> String {
    DisplayWidth.pad(text, to: columns, alignsRight: true)
  }

  /// Without ASCII only, other characters are shown as escaped bytes: how such a terminal would show them is not known.
  private func name(_ path: NameBytes) -> String {
    let text = path.description
    guard glyphs == .ascii, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    return text.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16) }.joined()
  }

  /// Acknowledged solid, in flight medium, the rest light; both rounded down.
  func bar(_ acked: Int64, _ moved: Int64, of whole: Int64, to columns: Int) -> String {
    let solid = Self.cells(acked, of: whole, columns)
    let medium = max(0, Self.cells(moved, of: whole, columns) - solid)
    return String(repeating: glyphs.acked, count: solid) + String(repeating: glyphs.inFlight, count: medium)
      + String(repeating: glyphs.rest, count: columns - solid - medium)
  }

  static func cells(_ part: Int64, of whole: Int64, _ columns: Int) -> Int {
    guard whole > 0 else { return columns }
    return min(columns, Int(Double(max(0, min(part, whole))) / Double(whole) * Double(columns)))
  }

  private func paint(_ text: String, _ colour: TextStyle.Colour?) -> String {
    colour.map { style.paint(text, $0) } ?? text
  }
}

// MARK: - Total

extension ProgressBlock {
  /// A piece of the total line; those with the highest rank are dropped first if there is no room.
  private struct Piece {
    var text: String
    var rank: Int
    var colour: TextStyle.Colour?
  }

  private func totalLine(_ figures: ProgressFigures) -> String {
    var pieces = pieces(figures).filter { !$0.text.isEmpty }
    func columns() -> Int { pieces.reduce(2 * (pieces.count - 1)) { $0 + DisplayWidth.of($1.text) } }
    while pieces.count > 1, columns() > width, let last = pieces.indices.max(by: { pieces[$0].rank < pieces[$1].rank })
    {
      pieces.remove(at: last)
    }
    if pieces.count == 1 { return DisplayWidth.cutMiddle(pieces[0].text, to: width, mark: mark) }
    return pieces.map { paint($0.text, $0.colour) }.joined(separator: "  ")
  }

  private func pieces(_ figures: ProgressFigures) -> [Piece] {
    let now = figures.now
    // Below 60 columns figures say more than a bar.
    let barRank = isNarrow ? 10 : 4
    let bar = now.totalIsKnown ? totalBar(figures) : ""
    let isWaiting = now.waitingForServerMs != nil
    return [
      Piece(text: "total", rank: isNarrow ? 11 : 6), Piece(text: bar, rank: barRank),
      Piece(text: ProgressText.size(now, units), rank: 2),
      Piece(text: now.totalIsKnown ? "\(figures.percent)%" : "counting", rank: 1),
      Piece(text: now.waitingForServerMs.map(ProgressText.waiting) ?? "", rank: 2),
      Piece(text: isWaiting ? "" : ProgressText.rate(figures.bytesPerSecond, units), rank: isNarrow ? 5 : 7),
      Piece(text: isWaiting ? "" : "ETA \(ProgressText.eta(figures.etaMs))", rank: 8),
      Piece(text: "\(now.filesDone) done", rank: isNarrow ? 6 : 5, colour: now.filesDone > 0 ? .green : nil),
      Piece(text: now.filesFailed > 0 ? "\(now.filesFailed) failed" : "", rank: 3, colour: .red),
      Piece(text: now.filesUnknown > 0 ? "\(now.filesUnknown) unknown" : "", rank: 3, colour: .red),
      Piece(text: figures.filesAdded > 0 ? "+\(Quantity.count(figures.filesAdded, "file"))" : "", rank: 9),
    ]
  }

  private func totalBar(_ figures: ProgressFigures) -> String {
    let now = figures.now
    let columns = max(20, barColumns)
    if now.hasBytesTotal { return bar(now.bytesAcked, now.bytesMoved, of: now.bytesTotal, to: columns) }
    return bar(Int64(now.filesDone), Int64(now.filesDone), of: Int64(now.filesTotal), to: columns)
  }
}
