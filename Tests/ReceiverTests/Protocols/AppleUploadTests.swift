import Testing
import TransferModel

@testable import Receiver

/// What Apple's URLSession sends in versions 3 (iOS 17), 5 (iOS 18.0) and 6 (iOS 18.1), byte for byte except for the
/// host: an ordinary upload that breaks off, a HEAD, and the rest. Source: draft-ietf-httpbis-resumable-upload, interop
/// versions 3, 5 and 6.
@Suite struct AppleUploadTests {
  private static func completeness(_ version: Int, _ isComplete: Bool) -> String {
    version == 3 ? "Upload-Incomplete: \(isComplete ? "?0" : "?1")" : "Upload-Complete: \(isComplete ? "?1" : "?0")"
  }

  private static func request(_ line: String, _ version: Int, _ fields: [String]) -> [UInt8] {
    let common = [
      "Host: 127.0.0.1", "Accept: */*", "Upload-Draft-Interop-Version: \(version)", "Accept-Language: en-GB,en;q=0.9",
      "Accept-Encoding: gzip, deflate", "User-Agent: Uploader/1 CFNetwork/1494.0.7 Darwin/23.4.0",
      "Connection: keep-alive",
    ]
    return Array(([line] + common + fields).joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8)
  }

  @Test(arguments: [3, 4, 5, 6])
  func aBrokenUploadGoesOnWhereItStopped(version: Int) throws {
    let receiver = try ReceiverFixture(script: "match POST * : cut-after=300000")
    let bytes = sample(500_000)
    let type = "Content-Type: application/octet-stream"
    let first = receiver.client()
    let creation = [type, Self.completeness(version, true), "Content-Length: \(bytes.count)"]
    first.send(Self.request("POST /-/resumable/photo.heic HTTP/1.1", version, creation) + bytes)
    let interim = first.reply()
    #expect(interim?.status == 104 && interim?.fields["upload-draft-interop-version"] == String(version))
    #expect(interim?.fields["upload-limit"]?.hasPrefix("expires=") == (version == 6 ? true : nil))
    #expect(first.rest() == [])
    let path = TusClient.path(interim?.fields["location"])

    let second = receiver.client()
    second.send(Self.request("HEAD \(path) HTTP/1.1", version, []))
    let found = second.reply(toHead: true)
    #expect(found?.status == 204 && found?.fields["upload-offset"] == "300000")
    #expect(found?.fields["cache-control"] == "no-store")
    #expect(found?.fields[version == 3 ? "upload-incomplete" : "upload-complete"] == (version == 3 ? "?1" : "?0"))
    let resumption = [
      "Content-Type: \(version == 6 ? "application/partial-upload" : "application/octet-stream")",
      Self.completeness(version, true), "Upload-Offset: 300000", "Content-Length: 200000",
    ]
    second.send(Self.request("PATCH \(path) HTTP/1.1", version, resumption) + bytes[300_000...])
    let final = second.reply()
    #expect(final?.status == 201)
    #expect(final?.fields[version == 3 ? "upload-incomplete" : "upload-complete"] == (version == 3 ? "?0" : "?1"))
    #expect(receiver.content("photo.heic") == bytes)
    #expect(
      try receiver.events().filter { $0.path == NameBytes("photo.heic") }.received == [
        ByteRange(offset: 0, length: 300_000), ByteRange(offset: 300_000, length: 200_000),
      ])
  }

  @Test(arguments: [3, 4, 5, 6])
  func anUnfinishedAppendIsAnswered201(version: Int) throws {
    let receiver = try ReceiverFixture()
    let fields = [Self.completeness(version, false), "Content-Length: 2"]
    let client = receiver.client()
    client.send(Self.request("POST /-/resumable/a HTTP/1.1", version, fields) + [1, 2])
    let path = TusClient.path(client.reply()?.fields["location"])
    #expect(client.reply()?.fields["upload-offset"] == "2")
    let type = ["Content-Type: application/partial-upload", "Upload-Offset: 2"]
    client.send(Self.request("PATCH \(path) HTTP/1.1", version, fields + type) + [3, 4])
    let answer = client.reply()
    #expect(answer?.status == 201 && answer?.fields["upload-offset"] == "4")
    #expect(answer?.fields[version == 3 ? "upload-incomplete" : "upload-complete"] == (version == 3 ? "?1" : "?0"))
  }
}
