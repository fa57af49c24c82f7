import HTTPTypes

/// Permissions and owner of a file in the metadata of its object, under the names and in the forms of rclone
/// (`--metadata`) and s3fs: both write the numbers of owner and group in decimal; rclone writes the mode in octal
/// (`100644`), s3fs in decimal (`33188`). Sources: rclone.org/local "Metadata"; s3fs-fuse 1.93, `get_mode`.
public struct FileAccess: Sendable, Hashable {
  /// The permissions of owner, group and others. Never setuid, setgid or sticky: whoever may write the object could
  /// otherwise choose whose rights a program gets.
  public var mode: UInt32?
  public var owner: UInt32?
  public var group: UInt32?

  public init(mode: UInt32? = nil, owner: UInt32? = nil, group: UInt32? = nil) {
    (self.mode, self.owner, self.group) = (mode.map { $0 & 0o777 }, owner, group)
  }

  var isEmpty: Bool { self == FileAccess() }

  private static let names = (mode: "x-amz-meta-mode", owner: "x-amz-meta-uid", group: "x-amz-meta-gid")
  private static let regular: UInt32 = 0o100000, kind: UInt32 = 0o170000

  /// The fields of the request that creates an object.
  public var fields: [(name: String, value: String)] {
    var all: [(name: String, value: String)] = []
    if let mode { all.append((Self.names.mode, String(Self.regular | mode, radix: 8))) }
    if let owner { all.append((Self.names.owner, String(owner))) }
    if let group { all.append((Self.names.group, String(group))) }
    return all
  }

  /// From the fields of an answer. A value that is not understood counts as none.
  init(_ fields: HTTPFields, mode: Bool, owner: Bool) {
    func number(_ name: String) -> UInt32? {
      // The highest number means "unchanged" to chown(2).
      HTTPField.Name(name).flatMap { fields[$0] }.flatMap { Self.number($0, radix: 10) }.flatMap {
        $0 < .max ? $0 : nil
      }
    }
    self.init(
      mode: mode ? HTTPField.Name(Self.names.mode).flatMap { fields[$0] }.flatMap(Self.mode) : nil,
      owner: owner ? number(Self.names.owner) : nil, group: owner ? number(Self.names.group) : nil)
  }

  /// Octal if that gives permissions, perhaps with the type of a regular file; else decimal with this type.
  private static func mode(_ text: String) -> UInt32? {
    if let octal = number(text, radix: 8), octal & ~0o7777 == 0 || octal & kind == regular { return octal & 0o777 }
    return number(text, radix: 10).flatMap { $0 & kind == regular ? $0 & 0o777 : nil }
  }

  private static func number(_ text: String, radix: Int) -> UInt32? {
    guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt32(text, radix: radix)
  }

  // MARK: - Notes of a session

  private static let key = (mode: "mode", owner: "uid", group: "gid")

  var notes: [String: String] {
    var notes: [String: String] = [:]
    notes[Self.key.mode] = mode.map { String($0, radix: 8) }
    notes[Self.key.owner] = owner.map { String($0) }
    notes[Self.key.group] = group.map { String($0) }
    return notes
  }

  init(notes: [String: String]) {
    self.init(
      mode: notes[Self.key.mode].flatMap { UInt32($0, radix: 8) }, owner: notes[Self.key.owner].flatMap { UInt32($0) },
      group: notes[Self.key.group].flatMap { UInt32($0) })
  }
}
