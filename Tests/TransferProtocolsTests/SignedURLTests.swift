import Testing
import TransferModel

@testable import TransferProtocols

/// When signed URLs expire, in the formats of their vendors.
@Suite struct SignedURLTests {
  @Test(
    arguments: [
      ("https://h/a?X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400", 1_369_440_000_000),
      ("https://h/a?X-Goog-Expires=60&x-goog-date=20130524T000000Z", 1_369_353_660_000),
      ("https://h/a?Expires=1369353600&Signature=x", 1_369_353_600_000),
      ("https://h/a?sv=1&se=2013-05-24T00%3A00%3A00Z&sig=x", 1_369_353_600_000),
      ("https://h/a?se=2013-05-24", 1_369_353_600_000),
      ("https://h/a?X-Amz-Expires=60", nil), ("https://h/a?expires=soon", nil), ("https://h/expires=5", nil),
      ("https://h/a?se=2013-13-24", nil), ("https://h/a?se=%zz", nil), ("https://h/a", nil),
    ] as [(String, Int64?)])
  func theEndIsRead(_ url: String, _ end: Int64?) {
    #expect(SignedURL.expiry(of: url) == end)
    if let end {
      #expect(SignedURL.isExpired(url, wallMs: end) && !SignedURL.isExpired(url, wallMs: end - 60_000))
    } else {
      #expect(!SignedURL.isExpired(url, wallMs: .max / 2))
    }
  }

  @Test(arguments: ["http://h/a", "ftp://h/a", "a", "https://h/a#b", "https://h/\u{e9}", "https://u:secret@h/"])
  func whatCannotBeAskedIsRefusedUnquoted(_ url: String) throws {
    let own = try #require(WebOrigin(url: "https://h/"))
    #expect {
      try SignedURL.check(url, for: own)
    } throws: { error in
      guard let failure = error as? Failure else { return false }
      return failure.code == .authNeedsURL && !failure.message.contains("secret")
    }
    try SignedURL.check("https://other/a?b=c", for: own)
  }
}
