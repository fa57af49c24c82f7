import Glibc

/// Where tests create their folders: TMPDIR, which `tools/test` sets to a folder in memory, or /tmp.
package let temporaryRoot = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"

/// Removes a file, or a folder with all that is in it, without a process of its own.
package func removeTree(_ path: String) { removeTree(Array(path.utf8CString.dropLast())) }

/// Works on bytes, because names need not be UTF-8. Does not follow symbolic links: `unlink` removes those, and
/// everything else that is not a folder.
private func removeTree(_ path: [CChar]) {
  let terminated = path + [0]
  guard unlink(terminated) != 0 else { return }
  chmod(terminated, 0o700)
  if let directory = opendir(terminated) {
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) {
          Array(UnsafeBufferPointer(start: $0, count: strlen($0)))
        }
      }
      if name != [0x2E], name != [0x2E, 0x2E] { removeTree(path + [0x2F] + name) }
    }
  }
  rmdir(terminated)
}
