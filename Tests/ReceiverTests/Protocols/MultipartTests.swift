import Testing

@testable import Receiver

@Suite struct MultipartTests {
  /// Parts with their bytes, from a body that arrives in pieces of `step` bytes.
  private func parts(_ body: String, step: Int) throws -> [(part: MultipartPart, bytes: [UInt8])] {
    var reader = MultipartReader(boundary: Array("B".utf8))
    var out: [(part: MultipartPart, bytes: [UInt8])] = []
    var rest = Array(body.utf8)[...]
    while !rest.isEmpty {
      try Array(rest.prefix(step)).withUnsafeBytes { bytes in
        try reader.take(bytes) { event in
          switch event {
          case .part(let part, let offset):
            #expect(Array(body.utf8)[..<Int(offset)].suffix(4) == [13, 10, 13, 10])
            out.append((part, []))
          case .bytes(let bytes): out[out.count - 1].bytes += bytes
          case .partEnd: break
          }
        }
      }
      rest = rest.dropFirst(step)
    }
    #expect(reader.isFinished)
    return out
  }

  /// Text that begins like a delimiter but is not one, at every cut.
  @Test(arguments: 1...40)
  func findsTheDelimitersHoweverTheBodyIsCut(step: Int) throws {
    let tricky = "\r\n--\r\n-\r\r\n--A\r\n\r\n--C--\r"
    let body =
      "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(tricky)\r\n"
      + "--B\r\nContent-Type: x/y\r\ncontent-disposition: form-data; name=f; filename=\"\"\r\n\r\n\r\n--B--\r\nepilogue"
    let found = try parts(body, step: step)
    #expect(found.map(\.part) == [MultipartPart(name: "a"), MultipartPart(name: "f", fileName: [])])
    #expect(found.map(\.bytes) == [Array(tricky.utf8), []])
  }

  @Test func skipsThePreamble() throws {
    let found = try parts("hello\r\n--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--", step: 7)
    #expect(found.map(\.bytes) == [[0x31]])
  }

  @Test(arguments: [
    "--BX\r\n", "--B\r\n\r\n\r\nx", "--B\r\nContent-Disposition: form-data\r\n\r\nx", "--B\r\nno colon\r\n\r\nx",
  ])
  func refusesWhatIsNoForm(body: String) {
    #expect { try parts(body, step: 100) } throws: {
      if case .refuse(let answer) = $0 as? ExchangeEnd { answer.status == 400 } else { false }
    }
  }

  @Test(arguments: [
    ("form-data; name=\"a\"; filename=\"x%22y%0D%0A%41.pdf\"", "x\"y\r\n%41.pdf"),
    ("form-data; filename=\"C:\\dir\\\"", "C:\\dir\\"), ("form-data; filename=\"a\\\"b\"; name=\"q\"", "a\"b"),
    ("form-data;filename=\"a;b=c\" ; name=x", "a;b=c"), ("form-data; FileName=token ; name=x", "token"),
    ("form-data; filename=\"ü\"", "ü"),
  ])
  func readsFileNames(field: String, name: String) {
    #expect(FieldParameters(field)["filename"] == Array(name.utf8))
  }

  @Test func readsTheBoundary() {
    #expect(MultipartReader.boundary("multipart/form-data; boundary=\"a b\"; charset=x") == Array("a b".utf8))
    #expect(MultipartReader.boundary("Multipart/Form-Data; x=y; Boundary=--z") == Array("--z".utf8))
    #expect(MultipartReader.boundary("multipart/form-data") == nil)
    #expect(MultipartReader.boundary("application/json; boundary=x") == nil)
  }
}
