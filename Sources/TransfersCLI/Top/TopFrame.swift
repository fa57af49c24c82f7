import TransferModel
import TransferReports

/// One screen of `top` as lines, none wider than the terminal. A value made from the data and the view state; it draws
/// nothing itself.
struct TopFrame {
  let reading: TopReading
  let state: TopState
  /// The ledger, as text for people.
  let name: String
  let nowMs: Int64
  let style: TextStyle
  let columns: Int
  /// nil if the height is unlimited: everything is shown.
  let height: Int?
  /// Why there are no files, if there are none.
  var absence = Absence.nothingRecorded

  /// For terminals that do not report their size.
  static let (usualColumns, usualRows) = (80, 24)

  var lines: [String] {
    if state.mode == .help { return Array(help.map(cut).prefix(height ?? .max)) }
    let (top, bottom) = (head, foot)
    let room = height.map { max(0, $0 - top.count - bottom.count) }
    let rows = files(room)
    return Array((top + rows + bottom).prefix(height ?? .max))
  }

  // MARK: - Parts

  private var head: [String] {
    let counts = FileState.allCases.filter { reading.totals.count($0) > 0 }
      .map { paint("\(reading.totals.count($0)) \($0.rawValue)", $0.rawValue) }.joined(separator: ", ")
    // As in the rows of files: with what is on its way.
    let (acked, bytes) = (reading.totals.bytesAcked +| reading.bytesInFlight, reading.totals.bytes)
    let rate = reading.bytesPerSecond.map { " at \(Quantity.bytesPerSecond($0))" } ?? ""
    let inFlight = reading.bytesInFlight > 0 ? ", \(Quantity.bytes(reading.bytesInFlight)) of it in flight\(rate)" : ""
    let size = "\(Quantity.fraction(acked, of: bytes))  \(ProgressText.share(reading.totals, acked: acked))"
    var lines = [
      cut("transfers top  \(name)  \(Cell.time(nowMs).text)"), cut("engine  \(reading.engine.line)"),
      counts.isEmpty ? cut("files   \(absence.line)") : fitting("files   ", counts),
      cut("bytes   \(size)\(inFlight)"),
    ]
    if let highest = reading.rates.max(), highest > 0 {
      let words = "  10 min, at most \(Quantity.bytesPerSecond(highest))"
      let bars = Sparkline.text(
        reading.rates, columns: max(0, min(60, columns - 10 - words.count)), isASCII: style.isASCII)
      lines.append(cut("rate    |\(bars)|\(words)"))
    }
    return lines + [""]
  }

  private var foot: [String] {
    var lines = [""]
    for host in reading.hosts.prefix(3) {
      let (all, errors) = (host.flow.attempts, host.flow.errors)
      let share = all > 0 ? Int(Double(errors) / Double(all) * 100) : 0
      lines.append(cut("host    \(printable(host.host))  \(all) requests, \(errors) failed (\(share)%)"))
    }
    for fault in reading.faults.prefix(3) {
      let attempt = fault.attempt
      let words = [attempt.errorCode, attempt.message].compactMap(\.self).map(printable).joined(separator: ": ")
      lines.append(cut("fault   \(Cell(time: attempt.endedMs).text)  \(attempt.file)  \(words)"))
    }
    if !state.said.isEmpty { lines.append(cut(printable(state.said))) }
    lines.append(cut(state.mode == .typing ? "/\(printable(state.words))_" : keys))
    return lines
  }

  private var keys: String {
    let words = state.words.isEmpty ? "" : "  only \"\(printable(state.words))\""
    return "p pause  r resume  c cancel  t retry  / filter  s sort: \(state.order.rawValue)  ? help  q quit\(words)"
  }

  /// Instead of the list of unfinished files.
  private var nothing: String {
    let isEmpty = FileState.allCases.allSatisfy { reading.totals.count($0) == 0 }
    return isEmpty ? absence.line : "every file is finished"
  }

  /// As many files as fit, around the selected one, and the number of those not shown.
  private func files(_ room: Int?) -> [String] {
    let rows = state.rows(reading)
    guard !rows.isEmpty else { return room == 0 ? [] : [cut(nothing)] }
    let place = state.place(rows)
    let shown = room.map { $0 >= rows.count ? rows.count : max(0, $0 - 1) } ?? rows.count
    let first = max(0, min(place - shown / 2, rows.count - shown))
    var lines = rows[first..<(first + shown)].enumerated().map {
      line($0.element, isChosen: first + $0.offset == place)
    }
    if shown < rows.count, room != 0 { lines.append(cut("  +\(rows.count - shown) more")) }
    return lines
  }

  private func line(_ row: TopReading.Row, isChosen: Bool) -> String {
    let file = row.file
    let start = "\(isChosen ? ">" : " ") \(pad("\(file.id)", 6)) "
    let state = pad(file.state, 9)
    let size = DisplayWidth.pad(
      Quantity.fraction(row.live.bytesMoved, of: max(0, file.size ?? 0)), to: 17, alignsRight: true)
    let map =
      columns >= 70
      ? "  " + pad(TopMap.text(row.chunks, row.live, columns: mapColumns, isASCII: style.isASCII), mapColumns) : ""
    let rate = columns >= Self.columnsWithRate ? "  " + DisplayWidth.pad(rate(row), to: 11, alignsRight: true) : ""
    let cause = file.cause.map { " (\(printable($0)))" } ?? ""
    let fixed = start + file.state.padded(9) + " " + size + rate + map + "  "
    guard DisplayWidth.of(fixed) + 4 <= columns else { return cut("\(start)\(file.state)  \(file.path)") }
    let room = columns - DisplayWidth.of(fixed)
    let mark = style.isASCII ? "~" : "…"
    // The name is cut before the cause, and the cause is left out where the name would be unreadable.
    let left = room - DisplayWidth.of(cause)
    let path =
      left >= min(Self.leastName, DisplayWidth.of("\(file.path)"))
      ? DisplayWidth.cutMiddle("\(file.path)", to: left, mark: mark) + cause
      : DisplayWidth.cutMiddle("\(file.path)", to: room, mark: mark)
    return start + paint(state, file.state) + " " + size + rate + map + "  " + ascii(path)
  }

  /// Narrower terminals show only the rate of all files.
  private static let columnsWithRate = 110

  private func rate(_ row: TopReading.Row) -> String {
    row.live.bytesPerSecond.map { Quantity.bytesPerSecond($0) } ?? ""
  }

  /// Columns of a name that is still recognised.
  private static let leastName = 12

  private var mapColumns: Int { columns >= 120 ? 32 : 16 }

  private var help: [String] {
    [
      "transfers top: what is happening in a ledger, from any terminal", "",
      "  up, down, k, j   choose a file", "  p  pause it, until r", "  r  resume it", "  c c  cancel it; final",
      "  t  retry it, when it failed or was cancelled",
      "  /  show only paths with these words; Enter keeps, Esc drops them",
      "  s  sort by state, size, bytes left or path", "  q  quit; Ctrl-Z suspends", "",
      style.isASCII
        ? "  chunks: # done  > on its way  . pending  ~ waits after a failure  ! failed"
        : "  chunks: █ done  ▒ on its way  ▁ pending  ~ waits after a failure  ! failed", "", "any key goes back",
    ]
  }

  // MARK: - Fitting

  private func cut(_ text: String) -> String {
    ascii(DisplayWidth.cutMiddle(text, to: columns, mark: style.isASCII ? "~" : "…"))
  }

  /// Colours have no width: if the text is too wide, it is clipped without colours.
  private func fitting(_ start: String, _ words: String) -> String {
    let plain = words.replacing(/\u{1B}\[[0-9]*m/, with: "")
    return DisplayWidth.of(start + plain) <= columns ? start + words : cut(start + plain)
  }

  /// A terminal without Unicode gets `?` for characters that it cannot show.
  private func ascii(_ text: String) -> String {
    guard style.isASCII else { return text }
    return String(text.map { $0.isASCII ? $0 : "?" })
  }

  private func pad(_ text: String, _ columns: Int) -> String { DisplayWidth.pad(text, to: columns, alignsRight: false) }

  private func paint(_ text: String, _ state: String) -> String {
    switch FileState(rawValue: state) {
    case .done: style.paint(text, .green)
    case .failed, .unknown: style.paint(text, .red)
    case .paused, .cancelled: style.paint(text, .yellow)
    default: text
    }
  }
}

/// The chunks of a file in a few columns.
enum TopMap {
  /// For a file in one chunk, a bar in two tones: acknowledged bytes, and bytes in flight.
  static func text(_ chunks: [ChunkMapRow], _ live: LiveFile, columns: Int, isASCII: Bool) -> String {
    guard chunks.count > 1 else { return bar(live, columns, isASCII) }
    let width = min(columns, chunks.count)
    return (0..<width).map { column in
      let group = chunks[(column * chunks.count / width)..<((column + 1) * chunks.count / width)]
      return mark(group.map(\.state), isASCII)
    }.joined()
  }

  /// Chunks that need attention take precedence over chunks in flight, and those over done chunks.
  private static func mark(_ states: [String], _ isASCII: Bool) -> String {
    if states.contains(where: { $0 == "failed" || $0 == "unknown" }) { return "!" }
    if states.contains("in_flight") { return isASCII ? ">" : "▒" }
    if states.contains("waiting") { return "~" }
    if states.allSatisfy({ $0 == "done" }) { return isASCII ? "#" : "█" }
    return isASCII ? "." : "▁"
  }

  private static func bar(_ live: LiveFile, _ columns: Int, _ isASCII: Bool) -> String {
    guard let size = live.file.size, size > 0 else { return "" }
    func place(_ bytes: Int64) -> Int { Int(Double(min(max(0, bytes), size)) / Double(size) * Double(columns)) }
    let (acked, moved) = (place(live.file.bytesAcked), place(live.bytesMoved))
    return String(repeating: isASCII ? "#" : "█", count: acked)
      + String(repeating: isASCII ? ">" : "▒", count: moved - acked)
      + String(repeating: isASCII ? "." : "▁", count: columns - moved)
  }
}

extension String {
  fileprivate func padded(_ columns: Int) -> String { DisplayWidth.pad(self, to: columns, alignsRight: false) }
}
