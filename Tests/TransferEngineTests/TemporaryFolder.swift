import TransferModel
import TransferTestSupport

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// A folder that disappears with the test.
final class TemporaryFolder {
  let path: NameBytes

  struct CannotMake: Error {}

  init(in root: String = temporaryRoot) throws {
    var template = Array("\(root)/transfers-test-XXXXXX".utf8CString)
    guard let made = template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) else { throw CannotMake() }
    path = NameBytes(String(cString: made))
  }

  deinit { if let path = path.utf8 { removeTree(path) } }

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
