#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Tells one boot of this machine from another.
enum BootID {
  /// The first 64 bits of the kernel's random boot id; 0 when it cannot be read.
  static let current: UInt64 = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var text = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &text, text.count)
    let digits = String(decoding: text.prefix(max(0, count)).filter { $0 != 0x2D }.prefix(16), as: UTF8.self)
    return UInt64(digits, radix: 16) ?? 0
  }()
}
