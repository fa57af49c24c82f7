import Testing

@testable import TransferLog

/// DSSE envelopes.
@Suite struct EnvelopeTests {
  /// Source: the protocol of DSSE 1.0.2, "Test Vectors".
  @Test func whatIsSignedIsThatOfTheSpecification() {
    let signed = SignedEnvelope.signed(Array("hello world".utf8), "http://example.com/HelloWorld")
    #expect(String(decoding: signed, as: UTF8.self) == "DSSEv1 29 http://example.com/HelloWorld 11 hello world")
  }

  @Test func anEnvelopeIsSignedByItsKey() throws {
    let key = try #require(SigningKey(name: "a", seed: [UInt8](repeating: 7, count: 32)))
    let other = try #require(SigningKey(name: "a", seed: [UInt8](repeating: 8, count: 32)))
    let envelope = SignedEnvelope(signing: Array("text".utf8), type: "t", with: key)
    #expect(envelope.isSigned(by: key.verifier) && !envelope.isSigned(by: other.verifier))
    #expect(envelope.json.hasPrefix(#"{"payload":"dGV4dA==","payloadType":"t","signatures":[{"keyid":"a+"#))
  }
}
