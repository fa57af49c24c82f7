import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Standard input as a list of ids.
enum StandardInput {
  /// More than the IDs of any ledger.
  private static let limit = 256 << 20

  /// Words separated by white space or NUL; bytes that are not UTF-8 in the form of ``EscapedArgument``.
  static func words() throws(CommandFailure) -> [String] {
    try bytes().split { $0 == 0 || $0 == 0x20 || (0x09...0x0D).contains($0) }.map { EscapedArgument.encode(Array($0)) }
  }

  private static func bytes() throws(CommandFailure) -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(0, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        throw .usage(
          "read IDs from standard input: \(systemText(errno))", remedy: "… --ids | transfers … -")
      }
      if count == 0 { return all }
      all += buffer[..<count]
      guard all.count <= limit else {
        throw .usage("more than \(limit >> 20) MiB of IDs", remedy: "name batches instead")
      }
    }
  }
}
