import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Requests as they are sent, without signatures and dates.
@Suite struct S3RequestTests {
  private func wire(_ request: TransferRequest) -> String {
    let fields = request.fields.filter { $0.name != .authorization && $0.name.canonicalName != "x-amz-date" }
    let body =
      switch request.body {
      case .bytes(let bytes): bytes.isEmpty ? "\n(empty)" : "\n" + String(decoding: bytes, as: UTF8.self)
      case .none, .source: ""
      }
    return (["\(request.method) \(request.url)"] + fields.map { "\($0.name.canonicalName): \($0.value)" })
      .joined(separator: "\n") + body
  }

  private let local: (inout BatchSettings) -> Void = { $0.endpointURL = "http://127.0.0.1:5100" }

  @Test func aSmallFileOverTLS() throws {
    let chunk = Scene.chunk(0, "hello", .crc64nvme, .md5)
    let request = try Scene.s3().request(.chunk(chunk), Scene.facts(key: "a b/ü+.bin"), Scene.context())
    #expect(
      wire(request) == """
        PUT https://examplebucket.s3.us-east-1.amazonaws.com/a%20b/%C3%BC%2B.bin
        content-type: application/octet-stream
        x-amz-meta-transfers-uid: 01890a5d-ac96-774b-bcce-b302099a8057
        x-amz-checksum-crc64nvme: \(base64(Scene.digest("hello", .crc64nvme).bytes))
        content-md5: XUFAKrxLKna5cZ2REBfFkg==
        x-amz-content-sha256: UNSIGNED-PAYLOAD
        """)
    #expect(request.limits == .body)
    #expect(
      request.fields[.authorization]?.contains(
        "SignedHeaders=content-md5;content-type;host;x-amz-checksum-crc64nvme;x-amz-content-sha256;x-amz-date;x-amz-meta-transfers-uid,"
      ) == true)
  }

  @Test func overPlainHTTPTheBodyIsSigned() throws {
    let chunk = Scene.chunk(0, "hello", .crc64nvme, .md5, .sha256)
    let request = try Scene.s3("s3://b.1/", change: local).request(.chunk(chunk), Scene.facts(), Scene.context())
    #expect(request.url == "http://127.0.0.1:5100/b.1/k")
    let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    #expect(request.fields[HTTPField.Name("x-amz-content-sha256")!] == sha256)
    #expect(throws: Failure.self) {
      try Scene.s3(change: local).request(.chunk(Scene.chunk(0, "hello", .md5)), Scene.facts(), Scene.context())
    }
  }

  @Test func create() throws {
    let facts = Scene.facts(size: 40 << 20, parts: 3)
    let request = try Scene.s3(change: local).request(.create, facts, Scene.context())
    #expect(
      wire(request) == """
        POST http://127.0.0.1:5100/examplebucket/k?uploads=
        content-type: application/octet-stream
        x-amz-meta-transfers-uid: 01890a5d-ac96-774b-bcce-b302099a8057
        x-amz-checksum-algorithm: CRC64NVME
        x-amz-checksum-type: FULL_OBJECT
        x-amz-content-sha256: \(SigV4.emptyPayload)
        (empty)
        """)
    let plain = try Scene.s3().request(.create, facts, Scene.context { $0.partChecksums = .ignored })
    #expect(!wire(plain).contains("checksum"))
  }

  @Test func partListVerifyAbort() throws {
    let facts = Scene.facts(size: 40 << 20, parts: 3, session: "a+b/c==")
    let s3 = try Scene.s3(change: local)
    let chunk = Scene.chunk(1, "hello", .md5, .sha256)
    let part = try s3.request(.chunk(chunk), facts, Scene.context { $0.partChecksums = .ignored })
    #expect(part.url == "http://127.0.0.1:5100/examplebucket/k?partNumber=2&uploadId=a%2Bb%2Fc%3D%3D")
    #expect(!wire(part).contains("transfers-uid"))
    let list = try s3.request(.probe(marker: "7"), facts, Scene.context())
    #expect(
      wire(list) == """
        GET http://127.0.0.1:5100/examplebucket/k?max-parts=1000&part-number-marker=7&uploadId=a%2Bb%2Fc%3D%3D
        x-amz-content-sha256: \(SigV4.emptyPayload)
        """)
    let head = try s3.request(.verify, facts, Scene.context())
    #expect(head.method == .head)
    #expect(head.fields[HTTPField.Name("x-amz-checksum-mode")!] == "ENABLED")
    let abort = try s3.request(.abort(remoteID: "x y"), facts, Scene.context())
    #expect(wire(abort).hasPrefix("DELETE http://127.0.0.1:5100/examplebucket/k?uploadId=x%20y\n"))
  }

  @Test func completeNamesPartsInOrderWithTheirChecksums() throws {
    var facts = Scene.stored()
    facts.parts.reverse()
    let request = try Scene.s3(change: local).request(.finish, facts, Scene.context())
    let (a, b) = (Scene.part(0, "hello ", .digest), Scene.part(1, "world", .digest))
    #expect(
      wire(request) == """
        POST http://127.0.0.1:5100/examplebucket/k?uploadId=U
        content-type: application/xml
        x-amz-mp-object-size: 11
        x-amz-checksum-crc64nvme: \(base64(Scene.digest("hello world", .crc64nvme).bytes))
        x-amz-checksum-type: FULL_OBJECT
        x-amz-content-sha256: \(hexText(RunningDigest.of(Array(S3Protocol.completeBody([a, b]).utf8), .sha256).bytes))
        <CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Part><PartNumber>1</PartNumber>\
        <ETag>\(a.etag)</ETag><ChecksumCRC64NVME>\(base64(a.digest!.bytes))</ChecksumCRC64NVME></Part><Part>\
        <PartNumber>2</PartNumber><ETag>\(b.etag)</ETag><ChecksumCRC64NVME>\(base64(b.digest!.bytes))\
        </ChecksumCRC64NVME></Part></CompleteMultipartUpload>
        """)
    #expect(request.limits == .finish)
  }

  @Test func completeLeavesOutWhatWasNotConfirmedAndNeedsEveryPart() throws {
    let s3 = try Scene.s3()
    #expect(!wire(try s3.request(.finish, Scene.stored(.etag), Scene.context())).contains("hecksum"))
    var facts = Scene.stored()
    facts.parts.removeLast()
    #expect(throws: Failure.self) { try s3.request(.finish, facts, Scene.context()) }
  }

  @Test func everyByteOfAKeyIsEncodedOnce() throws {
    let key = NameBytes((0...255).map { UInt8($0) })
    var facts = Scene.facts()
    facts.file.key = key
    for proto in [try Scene.s3() as any TransferProtocol, try Scene.web("http://h/")] {
      let credential = proto.name == "s3" ? Scene.aws : nil
      let url = try proto.request(.chunk(Scene.chunk(0, "x", .crc64nvme)), facts, Scene.context(credential)).url
      #expect(url.utf8.allSatisfy { (0x21...0x7E).contains($0) })
      let path = url.split(separator: "/", maxSplits: 2)[2]
      #expect(PercentEncoding.decode(path.utf8) == key.bytes)
      #expect(!path.utf8.contains(0x3F) && !path.utf8.contains(0x23) && !path.utf8.contains(0x2B))
    }
  }

  @Test func regionAndClockAreLearned() throws {
    let context = Scene.context {
      $0.region = "eu-west-1"
      $0.clockSkewMs = 3_600_000
    }
    let request = try Scene.s3().request(.verify, Scene.facts(), context)
    #expect(request.url.hasPrefix("https://examplebucket.s3.eu-west-1.amazonaws.com/"))
    #expect(request.fields[HTTPField.Name("x-amz-date")!] == "20130524T010000Z")
    #expect(request.fields[.authorization]?.contains("/20130524/eu-west-1/s3/") == true)
  }

  @Test func optionsOfTheBatch() throws {
    let s3 = try Scene.s3 {
      $0.ifNoneMatch = true
      $0.expectContinue = true
      $0.region = "cn-north-1"
      $0.usePathStyle = true
    }
    let request = try s3.request(.chunk(Scene.chunk(0, "x", .crc64nvme)), Scene.facts(), Scene.context())
    #expect(request.url == "https://s3.cn-north-1.amazonaws.com.cn/examplebucket/k")
    #expect(request.fields[.ifNoneMatch] == "*")
    #expect(request.fields[.expect] == "100-continue")
    #expect(
      request.fields[.authorization]?.contains(";if-none-match;") == true
        || request.fields[.authorization]?.contains("host;if-none-match") == true)
    #expect(request.fields[.authorization]?.contains("expect") == false)
  }

  @Test(arguments: [
    nil, Credential.bearer(token: "t"), .aws(accessKey: "a\r\nX: y", secretKey: "s", sessionToken: nil),
    .aws(accessKey: "a", secretKey: "s", sessionToken: "t\n"),
  ])
  func credentialsThatCannotBeUsed(_ credential: Credential?) throws {
    #expect(throws: Failure.self) {
      try Scene.s3().request(.verify, Scene.facts(), Scene.context(credential))
    }
  }
}
