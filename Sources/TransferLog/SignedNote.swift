import TransferModel

/// Signed text: https://c2sp.org/signed-note
public struct SignedNote: Sendable, Hashable {
  public struct Signature: Sendable, Hashable {
    public let name: String
    public let keyID: UInt32
    public let bytes: [UInt8]
  }

  /// Ends with a newline.
  public let text: String
  public let signatures: [Signature]

  /// Verifiers must accept at least 16 signatures, and should have a limit.
  static let mostSignatures = 100

  /// Reads a note; nil when the text is not one. Its signatures are not verified.
  public init?(_ note: String) {
    guard note.hasSuffix("\n"), note.unicodeScalars.allSatisfy({ $0 == "\n" || $0.value >= 0x20 }) else { return nil }
    let lines = note.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
    guard let blank = lines.lastIndex(of: ""), blank > 0 else { return nil }
    text = lines[..<blank].joined(separator: "\n") + "\n"
    let last = lines[(blank + 1)...]
    guard (1...Self.mostSignatures).contains(last.count) else { return nil }
    signatures = last.compactMap(Self.signature)
    guard signatures.count == last.count else { return nil }
  }

  /// Signs `text`. Each of its lines must end with a newline, and it must contain no character that is forbidden in
  /// notes.
  public init(signing text: String, with key: SigningKey) {
    self.text = text
    signatures = [Signature(name: key.name, keyID: key.verifier.keyID, bytes: key.sign(Array(text.utf8)))]
  }

  /// The note in the form in which it is stored and sent.
  public var description: String {
    text + "\n" + signatures.map { "\(Self.mark)\($0.name) \(base64(bigEndian($0.keyID) + $0.bytes))\n" }.joined()
  }

  private static let mark = "\u{2014} "

  private static func signature(_ line: Substring) -> Signature? {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[0] == "\u{2014}", !words[1].isEmpty, let bytes = bytesFromBase64(String(words[2])),
      bytes.count > 4
    else { return nil }
    return Signature(
      name: String(words[1]), keyID: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) },
      bytes: Array(bytes.dropFirst(4)))
  }

  /// The result of verifying the note with a key.
  public enum Outcome: Sendable, Hashable {
    case valid, invalid
    /// The note has no signature of this key.
    case unknown
  }

  public func outcome(of key: VerifyingKey) -> Outcome {
    let own = signatures.filter { $0.name == key.name && $0.keyID == key.keyID }
    guard !own.isEmpty else { return .unknown }
    return own.allSatisfy { key.isSignature($0.bytes, of: Array(text.utf8)) } ? .valid : .invalid
  }
}

func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
