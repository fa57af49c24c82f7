import TransferModel

/// The names of a file that is fetched: the one that it is to have, and the one that it has until all of it is there.
struct TargetNames: Sendable, Hashable {
  let final: NameBytes
  /// `.NAME.UID.part` in the same folder, so that moving it is one step; of one generation of one file only.
  let partial: NameBytes
  /// What holds both; `.` for a path without one.
  let folder: NameBytes

  /// A name may have 255 bytes (`NAME_MAX` of Linux); the rest is the uid, two dots and the ending.
  private static let longestPart = 255 - 39

  init(_ final: NameBytes, _ uid: UID) {
    self.final = final
    let slash = final.bytes.lastIndex(of: 0x2F)
    let name = final.bytes[(slash.map { $0 + 1 } ?? 0)...]
    let uidText = hexText([uid.high, uid.low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    let own = [0x2E] + Array(name.prefix(Self.longestPart)) + Array(".\(uidText).part".utf8)
    partial = NameBytes(final.bytes[..<(slash.map { $0 + 1 } ?? 0)] + own)
    folder = slash.map { NameBytes($0 == 0 ? [0x2F] : Array(final.bytes[..<$0])) } ?? NameBytes(".")
  }
}
