import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Where tests create their folders: TMPDIR, which `tools/test` sets to a folder in memory, or /tmp.
let temporaryRoot = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"

/// A folder that disappears with the test.
final class TemporaryFolder {
  let path: NameBytes

  struct CannotMake: Error {}

  init(in root: String = temporaryRoot) throws {
    var template = Array("\(root)/transfers-test-XXXXXX".utf8CString)
    guard let made = template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) else { throw CannotMake() }
    path = NameBytes(String(cString: made))
  }

  deinit { Self.removeTree(path) }

  private static func removeTree(_ path: NameBytes) {
    if let directory = path.withCString({ opendir($0) }) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { NameBytes(Array($0.prefix { $0 != 0 })) }
        let child = path.appending(name)
        if entry.pointee.d_type == UInt8(DT_DIR) {
          if name != NameBytes(".") && name != NameBytes("..") { removeTree(child) }
        } else {
          _ = child.withCString { unlink($0) }
        }
      }
      closedir(directory)
    }
    _ = path.withCString { rmdir($0) }
  }

  func write(_ name: NameBytes, _ text: String) {
    let descriptor = path.appending(name).withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
    precondition(descriptor >= 0, "open \(name): \(errno)")
    let bytes = Array(text.utf8)
    precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
  }

  func makeDirectory(_ name: String) { _ = withPath(name) { mkdir($0, 0o700) } }

  func withPath(_ name: String, _ body: (UnsafePointer<CChar>) -> Int32) -> Int32 {
    path.appending(NameBytes(name)).withCString(body)
  }
}
