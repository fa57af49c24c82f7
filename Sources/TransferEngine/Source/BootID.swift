import CSys

/// Identifies the current boot of this machine.
enum BootID {
  /// The first 64 bits of the kernel's random boot id; 0 when it cannot be read.
  static let current: UInt64 = {
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 37) { buffer in
      guard let start = buffer.baseAddress else { return "" }
      csys_boot_id(start)
      return String(cString: start)
    }
    return UInt64(text.filter { $0 != "-" }.prefix(16), radix: 16) ?? 0
  }()
}
