import CDigest
import TransferModel

/// The Ed25519 key that verifies the notes of a name.
public struct VerifyingKey: Sendable, Hashable {
  public let name: String
  public let bytes: [UInt8]
  public let keyID: UInt32

  /// nil for a name that a note cannot have, or a key of the wrong length.
  init?(name: String, bytes: [UInt8]) {
    guard NoteKey.isName(name), bytes.count == Int(CDIGEST_ED25519_KEY) else { return nil }
    (self.name, self.bytes) = (name, bytes)
    let hash = TreeHasher().hash(Array(name.utf8) + [0x0A, NoteKey.ed25519] + bytes).bytes
    keyID = hash.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// `name+keyid+base64`, the form that Go's package sumdb/note and the tools around it read.
  public var description: String { NoteKey.text(name, keyID, bytes) }

  /// Reads ``description``; nil for anything else, or if the key does not match its id.
  public init?(text: String) {
    let words = text.split(separator: "+", maxSplits: 2)
    guard words.count == 3, let bytes = bytesFromBase64(String(words[2])), bytes.first == NoteKey.ed25519 else {
      return nil
    }
    self.init(name: String(words[0]), bytes: Array(bytes.dropFirst()))
    guard words[1] == NoteKey.hex(keyID) else { return nil }
  }

  func isSignature(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    signature.count == Int(CDIGEST_ED25519_SIGNATURE) && cdigest_ed25519_verify(bytes, text, text.count, signature)
  }
}

/// The Ed25519 key that signs the notes of a name.
public struct SigningKey: Sendable {
  private let seed: [UInt8]
  public let verifier: VerifyingKey
  public var name: String { verifier.name }

  public init?(name: String, seed: [UInt8]) {
    var bytes = [UInt8](repeating: 0, count: Int(CDIGEST_ED25519_KEY))
    guard seed.count == bytes.count, cdigest_ed25519_public(seed, &bytes),
      let verifier = VerifyingKey(name: name, bytes: bytes)
    else { return nil }
    (self.seed, self.verifier) = (seed, verifier)
  }

  /// A new key; nil when the system has no entropy for it.
  public static func make(name: String) -> SigningKey? {
    var seed = [UInt8](repeating: 0, count: Int(CDIGEST_ED25519_KEY))
    return cdigest_random(&seed, seed.count) ? SigningKey(name: name, seed: seed) : nil
  }

  /// Reads ``secretText``; nil for anything else, or if the key and the name do not match the id.
  public init?(secretText: String) {
    guard secretText.hasPrefix(Self.secretMark) else { return nil }
    let words = secretText.dropFirst(Self.secretMark.count).split(separator: "+", maxSplits: 2)
    guard words.count == 3, let bytes = bytesFromBase64(String(words[2])), bytes.first == NoteKey.ed25519 else {
      return nil
    }
    self.init(name: String(words[0]), seed: Array(bytes.dropFirst()))
    guard words[1] == NoteKey.hex(verifier.keyID) else { return nil }
  }

  /// `PRIVATE+KEY+name+keyid+base64`, the form in which Go's package sumdb/note stores a key.
  public var secretText: String { Self.secretMark + NoteKey.text(name, verifier.keyID, seed) }

  private static let secretMark = "PRIVATE+KEY+"

  func sign(_ text: [UInt8]) -> [UInt8] { text.withUnsafeBytes { sign($0) } }

  func sign(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Int(CDIGEST_ED25519_SIGNATURE))
    let isSigned = cdigest_ed25519_sign(seed, bytes.baseAddress, bytes.count, &signature)
    precondition(isSigned, "libcrypto refuses Ed25519")
    return signature
  }
}

/// What both kinds of keys have in common.
enum NoteKey {
  /// The signature type of https://c2sp.org/signed-note.
  static let ed25519: UInt8 = 1

  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "+" && !$0.properties.isWhitespace }
  }

  static func text(_ name: String, _ keyID: UInt32, _ key: [UInt8]) -> String {
    "\(name)+\(hex(keyID))+\(base64([ed25519] + key))"
  }

  static func hex(_ keyID: UInt32) -> String { hexText(bigEndian(keyID)) }
}
