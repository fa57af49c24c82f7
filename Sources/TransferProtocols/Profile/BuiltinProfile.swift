import CProfiles

/// The built-in profiles; their text is in the folder `profiles` of the sources.
public enum BuiltinProfile {
  /// In display order.
  public static let names: [String] = all.map(\.name)

  /// The YAML text of one of ``names``; nil for any other name.
  public static func text(_ name: String) -> [UInt8]? { all.first { $0.name == name }?.text }

  /// The environment variable that a built-in profile reads if its input was not given; nil for none. Profiles in files
  /// have no such variables: the user grants access with `--input`.
  public static func variable(of profile: String, _ input: String) -> String? { variables[profile]?[input] }

  private static let variables = [
    "dropbox": ["token": "DROPBOX_TOKEN"], "google": ["token": "GOOGLE_TOKEN"], "graph": ["token": "GRAPH_TOKEN"],
    "nextcloud": ["login": "NEXTCLOUD_LOGIN"], "numbered-chunks": ["token": "CHUNKS_TOKEN"],
    "numbered-chunks-form": ["token": "CHUNKS_TOKEN"], "qiniu-v1": ["uptoken": "QINIU_UPTOKEN"],
    "qiniu-v2": ["uptoken": "QINIU_UPTOKEN"], "token-blocks": ["app_token": "APP_TOKEN"],
  ]

  private static let all: [(name: String, text: [UInt8])] = {
    var list: [(String, [UInt8])] = []
    while let profile = cprofile_at(list.count)?.pointee {
      list.append(
        (String(cString: profile.name), Array(UnsafeBufferPointer(start: profile.text, count: profile.length))))
    }
    return list
  }()
}
