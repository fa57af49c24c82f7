import TransferModel

/// What a manifest says of an upload besides its path, size and digests.
struct UploadColumns {
  private(set) var key: NameBytes?
  private(set) var settings: [String: String] = [:]
  /// The manifest lists files to send; otherwise it may belong to another program, whose columns mean something else.
  let isUpload: Bool

  init(isUpload: Bool) { self.isUpload = isUpload }

  /// Takes a field that is a key or a property; ignores all others.
  mutating func take(_ field: ManifestField, _ text: UnsafeRawBufferPointer) throws(ManifestFault) {
    switch field {
    case .key: key = isUpload ? try Self.key(text) : NameBytes(Array(text))
    case .setting(let setting):
      let value = String(decoding: text, as: UTF8.self)
      if isUpload, let problem = setting.problem(value: value) {
        throw ManifestFault("its \(setting.name): \(problem.cause)", problem.remedy)
      }
      settings[setting.name] = value
    case .url, .mirrors:
      if isUpload {
        throw ManifestFault("it has a URL, as files to fetch have", "leave it out of a list of files to send")
      }
    default: break
    }
  }

  /// Applies it to an entry.
  func complete(_ entry: ManifestEntry) throws(ManifestFault) -> ManifestEntry {
    guard !isUpload || settings.keys.count(where: { $0.hasPrefix("tag.") }) <= ObjectProperties.mostTags
    else {
      throw ManifestFault("it has more than \(ObjectProperties.mostTags) tags", "give fewer")
    }
    var entry = entry
    (entry.key, entry.settings) = (key, settings)
    return entry
  }

  private static func key(_ text: UnsafeRawBufferPointer) throws(ManifestFault) -> NameBytes {
    do throws(ManifestFault) { return try ManifestPath.read(text, hasEscapedLineEnds: true) } catch {
      throw ManifestFault("its key: \(error.cause)", "write it like a path, relative to the destination")
    }
  }
}
