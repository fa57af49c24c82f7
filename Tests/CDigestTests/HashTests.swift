import CDigest
import Testing

private func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func once(_ kind: cdigest_kind, _ text: String) -> String {
  var out = [UInt8](repeating: 0, count: cdigest_length(kind))
  let bytes = Array(text.utf8)
  #expect(cdigest_once(kind, bytes, bytes.count, &out))
  return hex(out)
}

private func mac(key: [UInt8], _ message: [UInt8]) -> String {
  var out = [UInt8](repeating: 0, count: 32)
  #expect(cdigest_hmac_sha256(key, key.count, message, message.count, &out))
  return hex(out)
}

@Suite struct HashTests {
  /// FIPS 180-4 and RFC 1321 examples.
  @Test func publishedVectors() {
    #expect(once(.sha256, "") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(once(.sha256, "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      once(.sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      once(.sha512, "abc")
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    #expect(
      once(.sha512, "")
        == "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e")
    #expect(once(.sha1, "abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(once(.md5, "") == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(once(.md5, "message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
    #expect(once(.md5, "hello") == "5d41402abc4b2a76b9719d911017c592")
  }

  /// RFC 4231 cases 1, 2, 6, and an empty key.
  @Test func hmacVectors() {
    #expect(
      mac(key: [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      mac(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      mac(
        key: [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    #expect(mac(key: [], []) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test(arguments: [cdigest_kind.md5, .sha1, .sha256, .sha512])
  func streamingEqualsOneShotAndStartsAnew(_ kind: cdigest_kind) throws {
    let bytes = (0..<1000).map { UInt8($0 & 255) }
    var expected = [UInt8](repeating: 0, count: cdigest_length(kind))
    #expect(cdigest_once(kind, bytes, bytes.count, &expected))
    let context = try #require(cdigest_hash_new(kind))
    defer { cdigest_hash_free(context) }
    for _ in 0..<2 {
      for start in stride(from: 0, to: 1000, by: 37) {
        let piece = Array(bytes[start..<min(start + 37, 1000)])
        #expect(cdigest_hash_update(context, piece, piece.count))
      }
      var digest = [UInt8](repeating: 0, count: cdigest_length(kind))
      #expect(cdigest_hash_final(context, &digest))
      #expect(digest == expected)
    }
  }

  @Test func copiesGoTheirOwnWay() throws {
    let first = try #require(cdigest_hash_new(.sha256))
    defer { cdigest_hash_free(first) }
    #expect(cdigest_hash_update(first, "ab", 2))
    let second = try #require(cdigest_hash_copy(first))
    defer { cdigest_hash_free(second) }
    #expect(cdigest_hash_update(first, "c", 1))
    var (a, b) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    #expect(cdigest_hash_final(first, &a))
    #expect(cdigest_hash_final(second, &b))
    #expect(hex(a) == once(.sha256, "abc"))
    #expect(hex(b) == once(.sha256, "ab"))
  }
}
