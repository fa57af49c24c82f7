import TransferModel

/// The places from which one file can be fetched: its own URL, which is place 0, and its mirrors in the order of their
/// list. The state of each place is in the notes of the session, so that a later process continues without those that
/// failed.
struct Mirrors: Sendable {
  private enum Key {
    static let lead = "lead"
    static let passed = "passed", refused = "refused"
    static func state(_ place: Int) -> String { "place.\(place)" }
    static func brought(_ place: Int) -> String { "brought.\(place)" }
  }

  let count: Int
  /// The place whose answer identified the version.
  let lead: Int
  private let origins: [String]
  private let notes: [String: String]

  /// - Parameter location: the URL of the file.
  init(_ facts: TransferFacts, location: String) {
    let mirrors = facts.file.expected.mirrors
    notes = facts.session?.notes ?? [:]
    count = mirrors.count + 1
    lead = Self.lead(notes)
    origins = ([location] + mirrors).map { WebOrigin(url: $0)?.description ?? $0 }
  }

  static func lead(_ notes: [String: String]) -> Int { notes[Key.lead].flatMap { Int($0) } ?? 0 }

  func origin(_ place: Int) -> String { origins[place] }

  /// The places that sent content.
  private var used: Set<Int> { Set((0..<count).filter { notes[Key.brought($0)] != nil }) }

  private func state(_ place: Int, _ update: [String: String] = [:]) -> String {
    update[Key.state(place)] ?? notes[Key.state(place)] ?? ""
  }

  /// The usable places, preferred first; those that have failed are used only if no other is left.
  func choice(_ learned: LearnedFacts, _ update: [String: String] = [:]) -> [Int] {
    let able = able(learned, update)
    let fresh = able.filter { state($0, update) != Key.passed }
    return fresh.isEmpty ? able : fresh
  }

  /// The places that are not excluded for good. Those on servers that fail for other files come last.
  private func able(_ learned: LearnedFacts, _ update: [String: String]) -> [Int] {
    let left = (0..<count).filter { state($0, update) != Key.refused }
    // A server that sent wrong bytes for another file is used only if no other place is left.
    let trusted = left.filter { !learned.mistrusted.contains(origins[$0]) }
    let places = trusted.isEmpty ? left : trusted
    return places.filter { !learned.failing.contains(origins[$0]) }
      + places.filter { learned.failing.contains(origins[$0]) }
  }

  // MARK: - Notes

  /// Content came from a place; `isLead` if its answer identified the version.
  func noteContent(from place: Int, isLead: Bool) -> [String: String] {
    isLead ? [Key.brought(place): "yes", Key.lead: String(place)] : [Key.brought(place): "yes"]
  }

  /// A place failed: another one is used if there is one.
  func noteFailure(of place: Int, isFinal: Bool) -> [String: String] {
    [Key.state(place): isFinal ? Key.refused : Key.passed]
  }

  /// All places have failed; those that may have recovered are tried again.
  func forgetFailures(_ update: [String: String]) -> [String: String] {
    var notes = update
    for place in 0..<count where state(place, update) == Key.passed { notes[Key.state(place)] = "" }
    return notes
  }

  /// Whether some usable place has not failed since content arrived.
  func hasOther(_ learned: LearnedFacts, _ update: [String: String]) -> Bool {
    able(learned, update).contains { state($0, update) != Key.passed }
  }

  func hasAble(_ learned: LearnedFacts, _ update: [String: String]) -> Bool { !able(learned, update).isEmpty }

  /// The notes of a new session after the assembled file was wrong. Which of several places had another version is
  /// unknown, so all that took over from the first one are excluded. nil if no place is left.
  var renewal: [String: String]? {
    let used = used
    let wrong = used.count > 1 ? used.subtracting([lead]) : used
    var kept = notes.filter { $0.key.hasPrefix(Key.state(0).dropLast()) && $0.value == Key.refused }
    for place in wrong { kept[Key.state(place)] = Key.refused }
    return !wrong.isEmpty && (0..<count).contains { kept[Key.state($0)] == nil } ? kept : nil
  }

  /// The notes of a session that hold for all places: other servers may report different values for the same bytes.
  static func shared(_ notes: [String: String]) -> [String: String] {
    notes.filter { $0.key == Key.lead || $0.key.hasPrefix("place.") || $0.key.hasPrefix("brought.") }
  }
}

extension TransferFacts {
  /// The facts as they apply to one of the places of a file: its own route, and what it said about the version.
  public func seen(from place: Int) -> TransferFacts {
    guard !file.expected.mirrors.isEmpty else { return self }
    var seen = self
    seen.mirror = place
    if place > 0 {
      seen.route = mirrorRoutes[place] ?? Route()
      if seen.route.place == nil { seen.route.begin(at: file.expected.mirrors[place - 1]) }
    }
    if let notes = session?.notes, Mirrors.lead(notes) != place {
      seen.session?.notes = Mirrors.shared(notes).merging(RemoteVersion.withoutValidators(notes)) { $1 }
    }
    return seen
  }

  subscript(routeTo place: Int) -> Route {
    get { place == 0 ? route : mirrorRoutes[place] ?? Route() }
    set { if place == 0 { route = newValue } else { mirrorRoutes[place] = newValue } }
  }
}
