import TransferModel
import TransferProtocols

/// What a list says of a file to send besides its path.
public struct ListedFile: Sendable, Hashable {
  /// Its path below the destination; nil for the path below the base.
  var key: NameBytes?
  /// The properties of its object, by ``ObjectSetting/name``.
  var settings: [String: String]
  var size: Int64?
  /// The strongest one.
  var digest: Digest?
  /// Its line in the list.
  var line: Int
  let list: NameBytes

  init(_ entry: ManifestEntry, of list: NameBytes) {
    (key, settings, size, digest) = (entry.key, entry.settings, entry.size, entry.digests.first)
    (line, self.list) = (entry.line, list)
  }

  /// It says which content the file has. Otherwise whatever the file has when it is sent is meant.
  var saysContent: Bool { size != nil || digest != nil }

  /// Why the file is not the one that is meant; nil if it is. Reads it if it has a digest. Blocking.
  func difference(from identity: SourceIdentity, at path: NameBytes, root: Int) -> Failure? {
    if let size, size != identity.size {
      return Failure(.sourceMismatch, "it has \(identity.size) bytes, and \(size) in the list (line \(line))")
    }
    guard let digest else { return nil }
    do throws(Failure) {
      let file = try SourceFile(path: path, root: root)
      let whole = ByteRange(offset: 0, length: file.identity.size)
      let found = try file.digests(of: whole, [digest.algorithm], .never)
      guard identity.relation(to: file.identity) == .same, identity.relation(to: try file.currentIdentity()) == .same
      else { return Failure(.sourceChanged, "it changed while it was compared with the list") }
      guard found[digest.algorithm] != digest else { return nil }
      return Failure(.sourceMismatch, "its \(digest.algorithm) is not that in the list (line \(line))")
    } catch {
      return error
    }
  }

  /// The rules' properties of the file, over which its own have precedence.
  /// - Throws: `.badList` for one that objects at the destination do not have, and for more tags than one can have.
  func properties(
    over rules: ObjectProperties?, at destination: Destination
  ) throws(TransferError) -> ObjectProperties? {
    guard !settings.isEmpty else { return rules }
    if let name = destination.unsupported(settings) {
      throw TransferError(
        .badList, "read list", list, cause: "line \(line): this destination has no \(name)",
        remedy: "leave it out; nothing was recorded")
    }
    let all = ObjectProperties((rules?.values ?? [:]).merging(settings) { $1 })
    guard all.tags.count <= ObjectProperties.mostTags else {
      throw TransferError(
        .badList, "read list", list,
        cause: "line \(line): with those of --rule its object has \(all.tags.count) tags, and "
          + "\(ObjectProperties.mostTags) at most are possible",
        remedy: "give fewer; nothing was recorded")
    }
    return all
  }
}
