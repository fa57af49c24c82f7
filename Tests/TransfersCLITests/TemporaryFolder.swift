import Glibc

/// Where tests create their folders: TMPDIR, which `tools/test` sets to a folder in memory, or /tmp.
let temporaryRoot = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"

/// A folder below the system's temporary folder that is removed with the value that holds it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("\(temporaryRoot)/transfers-cli-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemFailure("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  static func remove(_ path: String) { remove(Array(path.utf8CString.dropLast())) }

  /// Works on bytes, because names need not be UTF-8. Does not follow symbolic links: `unlink` removes those, and
  /// everything else that is not a folder.
  private static func remove(_ path: [CChar]) {
    let terminated = path + [0]
    guard unlink(terminated) != 0 else { return }
    chmod(terminated, 0o700)
    if let directory = opendir(terminated) {
      defer { closedir(directory) }
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.map { CChar(bitPattern: $0) }.prefix { $0 != 0 } }
        if name != [0x2E], name != [0x2E, 0x2E] { remove(path + [0x2F] + name) }
      }
    }
    rmdir(terminated)
  }
}

func readText(_ path: String) throws -> String { String(decoding: try readBytes(path), as: UTF8.self) }

func readBytes(_ path: String) throws -> [UInt8] {
  guard let file = fopen(path, "r") else { throw SystemFailure("open \(path)") }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = fread(&buffer, 1, buffer.count, file)
    guard count > 0 else { return bytes }
    bytes += buffer.prefix(count)
  }
}

func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  guard let file = fopen(path, "w") else { throw SystemFailure("open \(path)") }
  defer { fclose(file) }
  guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw SystemFailure("write \(path)") }
}

/// The names in a folder, sorted, with hidden ones.
func names(in folder: String) throws -> [String] {
  guard let directory = opendir(folder) else { throw SystemFailure("open \(folder)") }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}
