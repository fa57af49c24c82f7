import TransferModel

/// A signed payload with its type, in the form of DSSE 1.0 (https://github.com/secure-systems-lab/dsse). What is signed
/// begins with other bytes than a signed note, so that the signature of one is never that of the other.
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
    Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
  }

  /// As it is kept and sent. The type has no character that JSON escapes.
  public var json: String {
    #"{"payload":"\#(base64(payload))","payloadType":"\#(payloadType)","#
      + #""signatures":[{"keyid":"\#(keyID)","sig":"\#(base64(signature))"}]}"# + "\n"
  }
}
