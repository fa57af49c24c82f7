#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

enum AbsolutePath {
  /// The absolute path, for a process in another working folder; symbolic links are not resolved.
  static func of(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    let rest = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    return String(cString: folder) + "/" + rest
  }
}
