import Testing
import TransferModel

@Suite struct DigestTests {
  @Test(
    arguments: [([], ""), ([0x66], "Zg=="), ([0x66, 0x6f], "Zm8="), ([0x66, 0x6f, 0x6f], "Zm9v")] as [([UInt8], String)]
  )
  func base64FollowsRFC4648(bytes raw: [UInt8], text: String) {
    #expect(base64(raw) == text)
    #expect(bytesFromBase64(text) == raw)
  }
}
