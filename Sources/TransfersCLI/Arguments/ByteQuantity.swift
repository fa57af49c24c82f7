import ArgumentParser

/// A number of bytes as people type it: `4096`, `20M`, `1.5MiB`, `64KB`. `K M G T P` and `KiB MiB …` are powers of
/// 1024, `KB MB …` of 1000. Bits (`Mb`) are refused, because they are never intended.
struct ByteQuantity: Hashable, Sendable {
  let bytes: Int64

  init(bytes: Int64) { self.bytes = bytes }

  init?(text: String) {
    let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    guard let unit = Self.unit(text.dropFirst(digits.count)), let bytes = Self.multiply(digits, by: unit) else {
      return nil
    }
    self.bytes = bytes
  }

  private static func unit(_ suffix: Substring) -> Int64? {
    guard let letter = suffix.first else { return 1 }
    if suffix == "B" { return 1 }
    guard let power = ["K", "M", "G", "T", "P"].firstIndex(of: letter.uppercased()) else { return nil }
    let base: Int64
    switch suffix.dropFirst() {
    case "", "iB", "i": base = 1024
    case "B": base = 1000
    default: return nil
    }
    return (0...power).reduce(1) { product, _ in product * base }
  }

  /// Exact decimal arithmetic; a fraction of a byte is dropped. nil when it is not a number or too large.
  private static func multiply(_ text: Substring, by unit: Int64) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let whole = Int64(first) else { return nil }
    let (product, overflows) = whole.multipliedReportingOverflow(by: unit)
    guard !overflows else { return nil }
    guard parts.count == 2 else { return product }
    guard !parts[1].isEmpty, parts[1].count <= 9, let fraction = Int64(parts[1]) else { return nil }
    let scale = (0..<parts[1].count).reduce(Int64(1)) { power, _ in power * 10 }
    let (high, low) = unit.multipliedFullWidth(by: fraction)
    let (sum, overflowsAgain) = product.addingReportingOverflow(scale.dividingFullWidth((high, low)).quotient)
    return overflowsAgain ? nil : sum
  }
}

extension ByteQuantity: ExpressibleByArgument {
  init?(argument: String) {
    self.init(text: argument)
    guard bytes > 0 else { return nil }
  }
}

/// A rate in bytes a second: a ``ByteQuantity`` with or without `/s`.
struct ByteRate: Hashable, Sendable, ExpressibleByArgument {
  let bytesPerSecond: Int64

  init?(argument: String) {
    let text = argument.hasSuffix("/s") ? String(argument.dropLast(2)) : argument
    // More than a PiB per second is a mistake, and rates are added up.
    guard let quantity = ByteQuantity(argument: text), quantity.bytes <= 1 << 50 else { return nil }
    bytesPerSecond = quantity.bytes
  }
}
