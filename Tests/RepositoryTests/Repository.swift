import Glibc

/// The files of this checkout, read as they are on disk.
enum Repository {
  static let root: String = {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/")
  }()

  /// Paths relative to the root, sorted, without hidden folders.
  static func files(under folder: String, suffix: String = "") -> [String] {
    guard let directory = opendir("\(root)/\(folder)") else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard !name.hasPrefix(".") else { continue }
      let path = "\(folder)/\(name)"
      if entry.pointee.d_type == UInt8(DT_DIR) {
        found += files(under: path, suffix: suffix)
      } else if name.hasSuffix(suffix) {
        found.append(path)
      }
    }
    return found.sorted()
  }

  /// The text of a file; nil if it does not exist.
  static func text(_ path: String) -> String? {
    guard let file = fopen("\(root)/\(path)", "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer.prefix(count)
    }
  }

  /// Whether a file or folder exists.
  static func exists(_ path: String) -> Bool { access("\(root)/\(path)", F_OK) == 0 }

  static func lines(_ path: String) -> [Substring] {
    (text(path) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
  }
}
