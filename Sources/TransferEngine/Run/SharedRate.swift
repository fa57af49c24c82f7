public import TransferModel

/// A part of a rate that the engines on this host share under a name. Each member checks about twice a second what the
/// others use. It never takes more than the others leave free, so that the total stays below the rate even while the
/// number of members changes: what one member releases is available to the others from their next check on. Used by the
/// engine's thread.
public final class SharedRate: @unchecked Sendable {
  /// Interval between checks, in milliseconds.
  static let lookMs: Int64 = 500
  /// A member without a check for this time is stopped or hangs, and sends nothing; in milliseconds.
  static let silentMs: Int64 = 60_000

  /// The current part of this member, and the rate of the whole group; in bytes per second, nil for no limit.
  struct Part: Hashable {
    var own: Int64?
    var group: Int64?
  }

  public let name: String
  private let leases: RateLeases
  private var part = Part(own: 0, group: nil)

  /// Becomes a member until ``leave()`` is called, this value is released, or the process ends.
  /// - Parameters:
  ///   - name: of the group, up to 64 of `A–Z a–z 0–9 . _ -`.
  ///   - folder: created with mode 0700 if it is missing.
  /// - Throws: `.usage` for an invalid name; `.config` for a folder that is not private to this user, or cannot be
  ///   written.
  public init(_ name: String, in folder: String) throws(TransferError) {
    guard Self.isName(name) else {
      throw TransferError(
        .usage, "join rate group", NameBytes(name), cause: "the name must have 1 to 64 characters of A-Z a-z 0-9 . _ -",
        remedy: "choose another name")
    }
    self.name = name
    leases = try RateLeases(name, in: folder)
  }

  /// Leaves the group. Call it when nothing more is sent: the part is then free for the others.
  public func leave() { leases.remove() }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.first != "."
      && text.utf8.allSatisfy { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".utf8.contains($0) }
  }

  /// Checks the other members, and publishes what this member takes from now on.
  /// - Parameters:
  ///   - named: the rate that this member names for the group; nil for none.
  ///   - isSending: whether it has something to send or fetch; otherwise it takes nothing.
  /// - Returns: its part; the previous one if the others cannot be checked now.
  func look(named: Int64?, isSending: Bool, nowMs: Int64) -> Part {
    var next = part
    let isPublished = leases.publish { others in
      let others = others.map { nowMs - $0.atMs < Self.silentMs ? $0 : $0.silent }
      let group = ([named] + others.map(\.named)).compactMap(\.self).min()
      let own = group.map { isSending ? Self.part(of: $0, beside: others) : 0 }
      next = Part(own: own, group: group)
      return RateNote(named: named, taken: own, isSending: isSending, atMs: nowMs)
    }
    // A member never takes more than it has published.
    if isPublished || next.own ?? .max < part.own ?? .max { part = next }
    return part
  }

  /// An equal part for each member that is sending, as far as the others leave it free.
  static func part(of rate: Int64, beside others: [RateNote]) -> Int64 {
    let fair = rate / Int64(1 + others.count(where: \.isSending))
    let taken = others.reduce(Int64(0)) { $0 +| min(rate, $1.taken ?? rate) }
    return max(0, min(fair, rate - taken))
  }
}

/// What a member of a rate group publishes for the others.
struct RateNote: Hashable {
  /// The rate that it names for the group, in bytes per second; nil for none.
  var named: Int64?
  /// Its maximum use; nil for no limit.
  var taken: Int64?
  var isSending: Bool
  /// The time of its last check, by the boot clock.
  var atMs: Int64

  /// The same note for a member that sends nothing.
  var silent: RateNote { RateNote(named: named, taken: 0, isSending: false, atMs: atMs) }

  static let length = 128

  /// One line of ``length`` bytes.
  var line: [UInt8] {
    func number(_ value: Int64?) -> String { value.map { String($0) } ?? "-" }
    let text = "\(number(named)) \(number(taken)) \(isSending ? 1 : 0) \(atMs)"
    return Array(text.utf8) + Array(repeating: 0x20, count: Self.length - 1 - text.utf8.count) + [0x0A]
  }

  init(named: Int64?, taken: Int64?, isSending: Bool, atMs: Int64) {
    (self.named, self.taken, self.isSending, self.atMs) = (named, taken, isSending, atMs)
  }

  /// nil for text that no member wrote.
  init?(_ line: some Collection<UInt8>) {
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 4, let atMs = Int64(words[3]), ["0", "1"].contains(words[2]) else { return nil }
    let numbers = words[..<2].map { $0 == "-" ? nil : Int64($0) }
    guard zip(numbers, words).allSatisfy({ ($0 ?? ($1 == "-" ? 0 : -1)) >= 0 }) else { return nil }
    self.init(named: numbers[0], taken: numbers[1], isSending: words[2] == "1", atMs: atMs)
  }
}
