import Testing
import TransferModel

@testable import TransferProtocols

/// AWS's published examples, and two more by the same code.
@Suite struct SigV4Tests {
  let signer = SigV4(
    accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: Scene.secret, region: "us-east-1", wallMs: Scene.wallMs)

  private func signature(
    _ method: String, _ path: String, _ query: String = "", _ extra: [(String, String)] = [],
    payload: String = SigV4.emptyPayload
  ) -> String {
    let fields = [
      ("x-amz-date", signer.date), ("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", payload),
    ]
    let text = signer.authorization(
      method: method, path: path, query: query, fields: (extra + fields).map { (name: $0.0, value: $0.1) },
      payload: payload)
    return String(text.split(separator: "=").last!)
  }

  @Test func getWithRange() {
    #expect(
      signature("GET", "/test.txt", "", [("range", "bytes=0-9")])
        == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
  }

  @Test func putWithBody() {
    #expect(
      signature(
        "PUT", "/test%24file.text", "", [("x-amz-storage-class", "REDUCED_REDUNDANCY"), ("date", Scene.date)],
        payload: hexText(Scene.digest("Welcome to Amazon S3.", .sha256).bytes))
        == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  }

  @Test func subresourceWithoutValue() {
    #expect(
      signature("GET", "/", "lifecycle=") == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
  }

  @Test func queryOfTwo() {
    #expect(
      signature("GET", "/", "max-keys=2&prefix=J")
        == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
  }

  @Test func create() {
    #expect(
      signature("POST", "/dir/a%20b%2Bc.bin", "uploads=")
        == "0e07d4eeb00452ec081b76f276634dac44377366ac5aa9aff2093e648b5264cb")
  }

  @Test func partWithToken() {
    #expect(
      signature(
        "PUT", "/dir/a%20b%2Bc.bin", "partNumber=2&uploadId=a%2Bb%2Fc%3D%3D",
        [("x-amz-security-token", "TOKEN/abc==")], payload: SigV4.unsignedPayload)
        == "9e4fc999ce0404adaf51ded0bff1da5319e424532be14d6a7ee9a4b5a2cc1581")
  }

  @Test func blanksInValuesAreFolded() {
    #expect(
      signature("GET", "/test.txt", "", [("range", "  bytes=0-9 ")])
        == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    #expect(
      signature("GET", "/", "", [("x-amz-meta-a", "b   c")]) == signature("GET", "/", "", [("x-amz-meta-a", "b c")]))
  }
}
