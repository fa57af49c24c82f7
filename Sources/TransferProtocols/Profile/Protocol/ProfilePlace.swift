import TransferModel

/// Where the files of a profile go, as far as that is known without the server.
struct ProfilePlace {
  let profile: Profile
  let inputs: [String: String]
  let query: String
  let references: [String: String]

  /// The destination followed by the name; the server's actual location depends on the profile.
  func location(_ key: NameBytes) -> String {
    let parts = URLReference.Parts(inputs["url"] ?? "")
    return (parts.scheme ?? "") + "://" + (parts.authority ?? "") + folder(parts) + PercentEncoding.path(key.bytes)
  }

  /// Each input may affect what the server stores: a prefix, a bucket, the account of a token.
  var keyPlace: String {
    let typed = inputs["url"] ?? ""
    let server = WebOrigin(url: typed).map { $0.place + folder(URLReference.Parts(typed)) }
    let url = (server ?? location(NameBytes(""))) + (query.isEmpty ? "" : "?" + query)
    let given = inputs.filter { $0.key != "url" }.map { ($0.key, KeyPlace.setting($0.key, $0.value)) }
    let referenced = references.map { ($0.key, KeyPlace.reference($0.key, $0.value)) }
    let settings = (given + referenced).sorted { $0.0 < $1.0 }.map(\.1)
    return KeyPlace.text(url + " via " + PercentEncoding.path(profile.name.utf8), settings)
  }

  private func folder(_ parts: URLReference.Parts) -> String {
    parts.path.hasSuffix("/") ? parts.path : parts.path + "/"
  }
}
