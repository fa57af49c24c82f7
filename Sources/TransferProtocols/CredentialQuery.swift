/// Queries of URLs that carry a credential. Such URLs would be stored, shown and logged.
enum CredentialQuery {
  /// Parameters whose value is a credential wherever they are used.
  private static let parameters: Set<String> = [
    "x-amz-signature", "x-amz-security-token", "x-goog-signature", "signature", "sig", "token", "access_token",
    "password", "passwd", "pwd", "secret", "api_key", "apikey",
  ]

  /// `query` is what stands behind the question mark.
  static func isOne(_ query: some StringProtocol) -> Bool {
    query.utf8.split(separator: 0x26).contains { pair in
      let name = PercentEncoding.decode(pair.prefix { $0 != 0x3D }) ?? []
      return parameters.contains(String(decoding: name, as: UTF8.self).lowercased())
    }
  }
}
