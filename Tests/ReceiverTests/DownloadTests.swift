import Glibc
import Testing
import TransferModel

@testable import Receiver

@Suite struct DownloadTests {
  @Test func givesBackWhatWasStored() throws {
    let receiver = try ReceiverFixture()
    let body = sample(600_001)
    let put = receiver.ask("PUT", "/a", body)
    let got = receiver.ask("GET", "/a")
    #expect(got?.status == 200)
    #expect(got?.body == body)
    #expect(got?.fields["etag"] == put?.fields["etag"])
    #expect(got?.fields["repr-digest"] == put?.fields["repr-digest"])
    let head = receiver.ask("HEAD", "/a")
    #expect(head?.status == 200 && head?.fields["content-length"] == "600001")
    #expect(receiver.ask("GET", "/none")?.status == 404)
    #expect(receiver.ask("GET", "/a/none")?.status == 404)
    #expect(receiver.ask("GET", "/")?.status == 404)
    #expect(receiver.ask("GET", "/a", fields: ["If-None-Match: \(put?.fields["etag"] ?? "")"])?.status == 304)
    #expect(receiver.ask("GET", "/a", fields: ["If-Match: \"x\""])?.status == 412)
  }

  @Test func noticesAFileThatChangedBehindItsBack() throws {
    let receiver = try ReceiverFixture()
    let before = receiver.ask("PUT", "/a", [1, 2, 3])?.fields["etag"]
    receiver.ask("PUT", "/b", [4, 5, 6])
    #expect(rename(receiver.folder + "/b", receiver.folder + "/a") == 0)
    let after = receiver.ask("GET", "/a")
    #expect(after?.fields["etag"] == objectETag(crc32c: CRC32C.of([4, 5, 6]), size: 3))
    #expect(after?.fields["etag"] != before)
  }

  @Test(arguments: [
    ("bytes=0-9", 206, 0, 10), ("bytes=90-", 206, 90, 10), ("bytes=-7", 206, 93, 7), ("bytes=-700", 206, 0, 100),
    ("bytes=50-9999", 206, 50, 50), ("bytes=99-99", 206, 99, 1), ("bytes=5-4", 200, 0, 100),
    ("bytes=0-1,5-6", 200, 0, 100), ("lines=1-2", 200, 0, 100), ("bytes=a-b", 200, 0, 100), ("bytes=-", 200, 0, 100),
    ("bytes=5-99999999999999999999", 206, 5, 95),
  ])
  func servesOneRange(field: String, status: Int, offset: Int, length: Int) throws {
    let receiver = try ReceiverFixture()
    let body = sample(100)
    receiver.ask("PUT", "/a", body)
    let got = receiver.ask("GET", "/a", fields: ["Range: \(field)"])
    #expect(got?.status == status)
    #expect(got?.body == Array(body[offset..<(offset + length)]))
    let range = status == 206 ? "bytes \(offset)-\(offset + length - 1)/100" : nil
    #expect(got?.fields["content-range"] == range)
  }

  @Test(arguments: ["bytes=100-", "bytes=-0", "bytes=99999999999999999999-"])
  func refusesWhatIsBehindTheEnd(field: String) throws {
    let receiver = try ReceiverFixture()
    receiver.ask("PUT", "/a", sample(100))
    let got = receiver.ask("GET", "/a", fields: ["Range: \(field)"])
    #expect(got?.status == 416)
    #expect(got?.fields["content-range"] == "bytes */100")
  }

  @Test func ifRangeGuardsTheRange() throws {
    let receiver = try ReceiverFixture()
    let etag = receiver.ask("PUT", "/a", sample(100))?.fields["etag"] ?? ""
    #expect(receiver.ask("GET", "/a", fields: ["Range: bytes=1-2", "If-Range: \(etag)"])?.status == 206)
    #expect(receiver.ask("GET", "/a", fields: ["Range: bytes=1-2", "If-Range: \"old\""])?.status == 200)
    #expect(receiver.ask("GET", "/a", fields: ["Range: bytes=1-2", "If-Range: W/\(etag)"])?.status == 200)
  }

  /// A file that was written within the current second may be written again within it.
  @Test func aDateGuardsTheRangeOnceItIsASecondOld() throws {
    let receiver = try ReceiverFixture()
    receiver.ask("PUT", "/a", sample(100))
    for (ageSeconds, status) in [(100, 206), (-100, 200)] {
      let seconds = time(nil) - ageSeconds
      let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, receiver.folder + "/a", times, 0) == 0)
      let date = httpDate(seconds)
      #expect(receiver.ask("HEAD", "/a")?.fields["last-modified"] == date)
      let got = receiver.ask("GET", "/a", fields: ["Range: bytes=1-2", "If-Range: \(date)"])
      #expect(got?.status == status)
      let other = receiver.ask("GET", "/a", fields: ["Range: bytes=1-2", "If-Range: \(httpDate(seconds - 1))"])
      #expect(other?.status == 200)
    }
  }
}
