import TransferModel

/// Detects credentials in URL queries, because URLs are stored, shown and logged.
enum CredentialQuery {
  /// Parameters whose value is always a credential; names are compared without `-` and `_`.
  private static let names: Set<String> = [
    "sig", "auth", "authorization", "pwd", "pw", "pass", "sid", "session", "sessionid", "ticket",
  ]
  /// The same for all names that contain one of these: GitLab, Alibaba, Tencent, Huawei and others have parameters of
  /// their own.
  private static let parts = [
    "token", "secret", "passw", "signature", "credential", "apikey", "accesskey", "authkey", "privatekey", "jwt",
    "hmac",
  ]

  /// `query` is the part after the question mark.
  static func isOne(_ query: some StringProtocol) -> Bool {
    query.utf8.split { $0 == 0x26 || $0 == 0x3B }.contains { pair in
      let name = PercentEncoding.decode(pair.prefix { $0 != 0x3D }) ?? []
      let text = String(decoding: name.filter { $0 != 0x2D && $0 != 0x5F }, as: UTF8.self).lowercased()
      return names.contains(text) || parts.contains { text.contains($0) }
    }
  }
}

extension String {
  fileprivate func contains(_ part: String) -> Bool {
    let (text, part) = (Array(utf8), Array(part.utf8))
    return text.indices.contains { text[$0...].starts(with: part) }
  }
}
