import CSys

/// The arguments of this process as the system passed them. Swift reads them from `/proc`: without it, and beside a
/// preloaded library that keeps it from that, every command would have none, print the help and succeed.
package enum ProcessArguments {
  /// Bytes of each argument, without the name of the program.
  package static var bytes: [[UInt8]] {
    guard let arguments = csys_arguments() else {
      return (1..<max(Int(CommandLine.argc), 1)).map { bytes(of: CommandLine.unsafeArgv[$0]) }
    }
    var (found, index): ([[UInt8]], Int) = ([], 1)
    while let start = arguments[index] {
      found.append(bytes(of: start))
      index += 1
    }
    return found
  }

  private static func bytes(of start: UnsafePointer<CChar>?) -> [UInt8] {
    guard var cursor = start else { return [] }
    var bytes: [UInt8] = []
    while cursor.pointee != 0 {
      bytes.append(UInt8(bitPattern: cursor.pointee))
      cursor += 1
    }
    return bytes
  }
}
