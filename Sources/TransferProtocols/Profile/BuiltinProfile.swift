import CProfiles

/// The profiles in the program; their text is in the folder `profiles` of the sources.
public enum BuiltinProfile {
  /// In the order in which people see them.
  public static let names: [String] = all.map(\.name)

  /// The YAML text of one of ``names``; nil for any other.
  public static func text(_ name: String) -> [UInt8]? { all.first { $0.name == name }?.text }

  private static let all: [(name: String, text: [UInt8])] = {
    var list: [(String, [UInt8])] = []
    while let profile = cprofile_at(list.count)?.pointee {
      list.append(
        (String(cString: profile.name), Array(UnsafeBufferPointer(start: profile.text, count: profile.length))))
    }
    return list
  }()
}
