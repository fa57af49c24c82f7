import Glibc
import TransferTestSupport

/// A folder below the system's temporary folder that is removed with the value that holds it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("\(temporaryRoot)/transfers-cli-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemFailure("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { removeTree(path) }
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
