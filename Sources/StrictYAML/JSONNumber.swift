/// Numbers in JSON syntax.
public enum JSONNumber {
  /// Whether this is a number according to RFC 8259 section 6.
  public static func isNumber(_ text: some Collection<UInt8>) -> Bool {
    var rest = Array(text)[...]
    if rest.first == 0x2D { rest = rest.dropFirst() }
    guard let first = rest.first, isDigit(first) else { return false }
    rest = first == 0x30 ? rest.dropFirst() : rest.drop(while: isDigit)
    if rest.first == 0x2E {
      rest = rest.dropFirst()
      guard rest.first.map(isDigit) == true else { return false }
      rest = rest.drop(while: isDigit)
    }
    if rest.first == 0x65 || rest.first == 0x45 {
      rest = rest.dropFirst()
      if rest.first == 0x2B || rest.first == 0x2D { rest = rest.dropFirst() }
      guard rest.first.map(isDigit) == true else { return false }
      rest = rest.drop(while: isDigit)
    }
    return rest.isEmpty
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
