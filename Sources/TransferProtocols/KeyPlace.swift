/// The text of a place, with the settings that determine its objects: `https://h/api/ with prefix=/a/`.
///
/// Names and values are percent-encoded and never contain a space, `=` or `&`, so that different settings give
/// different texts.
enum KeyPlace {
  static func text(_ url: String, _ settings: [String]) -> String {
    settings.isEmpty ? url : url + " with " + settings.joined(separator: "&")
  }

  /// The place at a URL where the server decides, by the requests of a protocol, what becomes of a file: an upload by
  /// another protocol to the same URL is another object.
  static func text(_ url: String, by name: String, _ settings: [String] = []) -> String {
    text(url, [setting("protocol", name)] + settings)
  }

  /// The place as seen by one account: on many servers each account has its own place at the same URL. The account is
  /// identified by the reference to its secret, `basic=env:NAME`.
  static func text(_ place: String, auth: String) -> String {
    let halves = auth.split(separator: "=", maxSplits: 1).map(String.init)
    return place + (place.contains(" with ") ? "&" : " with ") + reference("auth", halves.joined(separator: ":"))
  }

  static func setting(_ words: String...) -> String {
    words.map { PercentEncoding.path($0.utf8) }.joined(separator: "=")
  }

  /// A setting that is a reference: its colons are kept, while those of a literal value are encoded.
  static func reference(_ name: String, _ reference: String) -> String {
    let parts = reference.split(separator: ":", omittingEmptySubsequences: false)
    return setting(name) + "=" + parts.map { PercentEncoding.path($0.utf8) }.joined(separator: ":")
  }
}
