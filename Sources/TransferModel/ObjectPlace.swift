/// Where the objects of a destination are, however it is spelled and whoever sends to it. An object of one destination
/// is that of another if both have the same site, and give it the same name.
package struct ObjectPlace: Sendable, Hashable {
  /// The server or bucket, with a query that all its objects have.
  package let site: String
  /// What the name of an object has before its key, and behind it: a template may have text there.
  package let before, behind: NameBytes

  package init(_ site: String, before: NameBytes = NameBytes(""), behind: NameBytes = NameBytes("")) {
    (self.site, self.before, self.behind) = (site, before, behind)
  }

  package func name(of key: NameBytes) -> NameBytes { NameBytes(before.bytes + key.bytes + behind.bytes) }

  /// The key whose object has this name; nil if there is none.
  package func key(of name: NameBytes) -> NameBytes? {
    let (bytes, end) = (name.bytes, name.bytes.count - behind.bytes.count)
    guard end > before.bytes.count, bytes.starts(with: before.bytes), bytes[end...].elementsEqual(behind.bytes) else {
      return nil
    }
    return NameBytes(Array(bytes[before.bytes.count..<end]))
  }
}
