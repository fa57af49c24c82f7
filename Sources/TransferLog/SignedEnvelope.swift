import TransferModel

/// A signed payload with its type, in the form of DSSE 1.0 (https://github.com/secure-systems-lab/dsse). The signed
/// bytes begin differently from those of a signed note, so that the signature of one is never valid for the other.
public struct SignedEnvelope: Sendable, Hashable {
  public let payload: [UInt8]
  public let payloadType: String
  public let keyID: String
  public let signature: [UInt8]

  public init(signing payload: [UInt8], type: String, with key: SigningKey) {
    (self.payload, payloadType) = (payload, type)
    keyID = "\(key.name)+\(NoteKey.hex(key.verifier.keyID))"
    signature = key.sign(Self.signed(payload, type))
  }

  public func isSigned(by key: VerifyingKey) -> Bool {
    key.isSignature(signature, of: Self.signed(payload, payloadType))
  }

  /// The pre-authentication encoding: the protocol of DSSE, "Signature Definition".
  static func signed(_ payload: [UInt8], _ type: String) -> [UInt8] {
    opening(payload.count, type) + payload
  }

  /// The bytes before a payload of `length` bytes.
  public static func opening(_ length: Int, _ type: String) -> [UInt8] {
    Array("DSSEv1 \(type.utf8.count) \(type) \(length) ".utf8)
  }

  /// Signs these bytes, which begin with ``opening(_:_:)``, and returns the JSON before and after the base64 of the
  /// payload. Ed25519 reads the bytes twice, so that all of them have to be accessible; a mapped file is enough.
  public static func frame(
    signing bytes: UnsafeRawBufferPointer, type: String, with key: SigningKey
  ) -> (before: String, behind: String) {
    let keyID = "\(key.name)+\(NoteKey.hex(key.verifier.keyID))"
    return frame(type: type, keyID: keyID, signature: key.sign(bytes))
  }

  private static func frame(type: String, keyID: String, signature: [UInt8]) -> (before: String, behind: String) {
    (
      #"{"payload":""#,
      #"","payloadType":"\#(type)","signatures":[{"keyid":"\#(keyID)","sig":"\#(base64(signature))"}]}"# + "\n"
    )
  }

  /// The form in which it is stored and sent. The type contains no character that JSON escapes.
  public var json: String {
    let frame = Self.frame(type: payloadType, keyID: keyID, signature: signature)
    return frame.before + base64(payload) + frame.behind
  }
}
