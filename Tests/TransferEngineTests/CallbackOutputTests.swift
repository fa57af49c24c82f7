import Testing

@testable import TransferEngine

@Suite struct CallbackOutputTests {
  private static let url =
    "https://hooks.example/deny/T0KEN-PATH/x?tok=SECRETQ&a=1&k=a%2Fb%2Bcde&k2=%C3%A4%C3%B6%C3%BC#frag-ment"

  /// Receivers quote the path without its query, or single values.
  @Test(arguments: [
    ("Cannot POST /deny/T0KEN-PATH/x", "Cannot POST [hidden]"),
    ("Cannot POST /deny/T0KEN-PATH/x; tok=SECRETQ.", "Cannot POST [hidden]; tok=[hidden]."),
    ("no T0KEN-PATH here", "no [hidden] here"), ("token SECRETQ is old", "token [hidden] is old"),
    ("k is a%2Fb%2Bcde", "k is [hidden]"), ("k is a/b+cde", "k is [hidden]"), ("k2 is äöü", "k2 is [hidden]"),
    ("at frag-ment", "at [hidden]"), ("x a 1 hooks.example", "x a 1 hooks.example"),
    ("?tok=SECRETQ&a=1&k=a%2Fb%2Bcde&k2=%C3%A4%C3%B6%C3%BC", "?[hidden]"),
  ])
  func partsOfASecretURLAreHidden(_ said: String, _ kept: String) {
    let output = CallbackOutput.masked(Array(said.utf8), [Self.url], urls: [Self.url])
    #expect(String(decoding: output, as: UTF8.self) == kept)
  }

  /// What a configuration passes to its program may be anything: an output without its short words says nothing.
  @Test func ordinaryWordsOfAConfigurationAreKept() {
    let output = CallbackOutput.masked(
      Array("fast upload to /srv/archive as 4711-abcd of s3cr".utf8), ["s3cr"],
      others: ["fast", "upload", "/srv/archive", "4711-abcd"])
    #expect(String(decoding: output, as: UTF8.self) == "fast upload to /srv/archive as [hidden] of [hidden]")
  }

  /// The words of a URL that everybody may see are ordinary ones.
  @Test func wordsOfAnotherURLAreKept() {
    let output = CallbackOutput.masked(
      Array("transfers: delivered".utf8), ["0123456789abcdef"], urls: ["https://ci.example/transfers/delivered"])
    #expect(String(decoding: output, as: UTF8.self) == "transfers: delivered")
  }
}
