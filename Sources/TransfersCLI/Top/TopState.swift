import TransferModel

/// What a person has chosen in `top`; changed only by keys.
struct TopState: Sendable, Hashable {
  enum Order: String, CaseIterable, Sendable { case state, size, left, path }

  enum Mode: Sendable, Hashable {
    case rows
    case help
    /// The text of a filter is being typed.
    case typing
  }

  /// An action requested by a key, other than a change of the view.
  enum Action: Sendable, Hashable {
    case quit
    /// Suspends the process; the shell continues it.
    case rest
    case act(ServeVerb, FileID)
  }

  var mode = Mode.rows
  var order = Order.state
  /// Part of a path, case-insensitive.
  var words = ""
  /// The selected file; it stays selected when rows move.
  var chosen: FileID?
  /// The output of the last verb.
  var said = ""
  /// The file to cancel if the key is pressed again, because cancelling cannot be undone.
  private(set) var doomed: FileID?

  /// The rows that are shown, in order.
  func rows(_ reading: TopReading) -> [TopReading.Row] {
    let wanted = words.lowercased()
    let rows = reading.rows.filter { wanted.isEmpty || "\($0.file.path)".lowercased().contains(wanted) }
    switch order {
    case .state: return rows
    case .size: return rows.sorted { ($0.file.size ?? 0) > ($1.file.size ?? 0) }
    case .left: return rows.sorted { Self.left($0.file) > Self.left($1.file) }
    case .path: return rows.sorted { $0.file.path.bytes.lexicographicallyPrecedes($1.file.path.bytes) }
    }
  }

  private static func left(_ file: FileRow) -> Int64 { max(0, max(0, file.size ?? 0) - max(0, file.bytesAcked)) }

  /// The position of the selected file among `rows`; the first if it is no longer there.
  func place(_ rows: [TopReading.Row]) -> Int { rows.firstIndex { $0.file.id == chosen } ?? 0 }

  mutating func press(_ key: TopKey, _ reading: TopReading) -> Action? {
    switch mode {
    case .typing: return typed(key)
    case .help:
      mode = .rows
      return key == .character("q") ? .quit : nil
    case .rows: return command(key, reading)
    }
  }

  private mutating func typed(_ key: TopKey) -> Action? {
    switch key {
    case .enter: mode = .rows
    case .escape: (mode, words) = (.rows, "")
    case .erase: words = String(words.dropLast())
    case .character(let character): if words.count < 200 { words.append(character) }
    case .up, .down: break
    case .rest: return .rest
    }
    return nil
  }

  private mutating func command(_ key: TopKey, _ reading: TopReading) -> Action? {
    if key != .character("c") { doomed = nil }
    switch key {
    case .up, .character("k"): move(-1, reading)
    case .down, .character("j"): move(1, reading)
    case .escape: (words, said) = ("", "")
    case .rest: return .rest
    case .character("q"): return .quit
    case .character("?"), .character("h"): mode = .help
    case .character("/"): (mode, words) = (.typing, "")
    case .character("s"):
      let all = Order.allCases
      order = all[((all.firstIndex(of: order) ?? 0) + 1) % all.count]
    case .character("p"): return act(.pause, reading)
    case .character("r"): return act(.resume, reading)
    case .character("c"): return cancel(reading)
    case .character("t"): return act(.retry, reading)
    case .character, .enter, .erase: break
    }
    return nil
  }

  private func act(_ verb: ServeVerb, _ reading: TopReading) -> Action? {
    let rows = rows(reading)
    return rows.isEmpty ? nil : .act(verb, rows[place(rows)].file.id)
  }

  /// The file stays selected, so that a row that moves into its place meanwhile is not affected.
  private mutating func cancel(_ reading: TopReading) -> Action? {
    guard case .act(_, let file)? = act(.cancel, reading) else { return nil }
    guard doomed == file else {
      (doomed, chosen, said) = (file, file, "c again cancels \(file) for good")
      return nil
    }
    doomed = nil
    return .act(.cancel, file)
  }

  private mutating func move(_ step: Int, _ reading: TopReading) {
    let rows = rows(reading)
    guard !rows.isEmpty else { return }
    chosen = rows[min(max(place(rows) + step, 0), rows.count - 1)].file.id
  }
}

/// A key of a terminal.
enum TopKey: Sendable, Hashable {
  case character(Character)
  case up, down, enter, escape, erase
  /// Ctrl-Z.
  case rest

  /// The keys that were pressed; escape sequences that are not keys are skipped.
  static func parse(_ bytes: [UInt8]) -> [TopKey] {
    var (keys, rest) = ([TopKey](), bytes[...])
    while let byte = rest.popFirst() {
      switch byte {
      case 0x1B where rest.first == 0x5B || rest.first == 0x4F:
        rest = rest.dropFirst()
        let end = rest.firstIndex { (0x40...0x7E).contains($0) } ?? rest.endIndex
        if end < rest.endIndex, end == rest.startIndex {
          if rest[end] == 0x41 { keys.append(.up) }
          if rest[end] == 0x42 { keys.append(.down) }
        }
        rest = rest[min(end + 1, rest.endIndex)...]
      case 0x1B: keys.append(.escape)
      case 0x0A, 0x0D: keys.append(.enter)
      case 0x7F, 0x08: keys.append(.erase)
      case 0x1A: keys.append(.rest)
      case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
      case 0xC2...0xF4: if let key = wide(byte, &rest) { keys.append(key) }
      default: break
      }
    }
    return keys
  }

  private static func wide(_ first: UInt8, _ rest: inout ArraySlice<UInt8>) -> TopKey? {
    let tail = rest.prefix { (0x80...0xBF).contains($0) }
    rest = rest.dropFirst(tail.count)
    return String(validating: [first] + tail, as: UTF8.self)?.first.map(TopKey.character)
  }
}
