import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct MultipartTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func theFrameIsExactlyThis() {
    var form = Multipart(boundary: "B")
    form.add(name: bytes("token"), value: bytes("abc"))
    form.addFile(name: bytes("file"), filename: bytes("x.pdf"), type: bytes("application/pdf"))
    form.add(name: bytes("late"), value: bytes("1"))
    let prefix = """
      --B\r
      Content-Disposition: form-data; name="token"\r
      \r
      abc\r
      --B\r
      Content-Disposition: form-data; name="file"; filename="x.pdf"\r
      Content-Type: application/pdf\r
      \r

      """
    #expect(String(decoding: form.prefix, as: UTF8.self) == prefix)
    let suffix = "\r\n--B\r\nContent-Disposition: form-data; name=\"late\"\r\n\r\n1\r\n--B--\r\n"
    #expect(String(decoding: form.suffix, as: UTF8.self) == suffix)
    #expect(form.contentType == "multipart/form-data; boundary=B")
  }

  @Test func withoutAFileThePrefixAndTheEndAreTheBody() {
    var form = Multipart(boundary: "B")
    form.add(name: bytes("a"), value: [0xFF])
    #expect(
      form.prefix + form.suffix == bytes("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n") + [0xFF]
        + bytes("\r\n--B--\r\n"))
  }

  /// RFC 7578 and the algorithm of HTML: nothing in a name can end the header or begin another one.
  @Test func namesAreEscapedAsBrowsersDo() {
    var form = Multipart(boundary: "B")
    let hostile = bytes("a\"; filename=\"b\r\nX-Evil: 1\r\n\r\n\\é") + [0xFF]
    form.addFile(name: bytes("f\"\n"), filename: hostile, type: bytes("text/plain\r\nX: 1"))
    let line =
      bytes(
        "Content-Disposition: form-data; name=\"f%22%0A\"; filename=\"a%22; filename=%22b%0D%0AX-Evil: 1%0D%0A%0D%0A\\é"
      ) + [0xFF, 0x22]
    #expect(form.prefix == bytes("--B\r\n") + line + bytes("\r\nContent-Type: text/plainX: 1\r\n\r\n"))
  }

  @Test func theBoundaryBelongsToTheFileAndNeedsNoQuotes() {
    let (a, b) = (UID(high: 1, low: 2), UID(high: 1, low: 3))
    #expect(Multipart(uid: a).boundary == Multipart(uid: a).boundary)
    #expect(Multipart(uid: a).boundary != Multipart(uid: b).boundary)
    let boundary = Multipart(uid: a).boundary
    #expect(boundary.utf8.count <= 70 && !boundary.contains(a.description))
    #expect(boundary.hasSuffix(boundary.suffix(48)) && boundary.suffix(48).allSatisfy(\.isHexDigit))
  }
}
