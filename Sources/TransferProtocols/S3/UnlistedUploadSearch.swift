import TransferModel

/// The state of the search for sessions of lost creates; passed through the engine as the marker of a probe.
///
/// A session may be aborted as ours only if all of this holds: its key is exactly ours; it began at or after the moment
/// when we recorded the intention to create one (with 5 s of grace for rounding); and it has no part. We never send a
/// part to a session whose ID we do not know, so a lost create of ours has none. An empty session that somebody else
/// began for the same key in the same seconds cannot be distinguished. Whether a candidate is empty is queried for each
/// one separately.
struct UnlistedUploadSearch: Hashable {
  struct Page: Hashable {
    var key: String
    var uploadID: String
    /// The number of earlier pages.
    var number: Int
  }

  /// Sessions not yet known to be empty.
  var candidates: [String] = []
  /// The next page of the listing; nil for the first one, or if there is none.
  var page: Page?

  /// The session may have begun this long before our recorded intention, by the server's rounded clock.
  static let graceMs: Int64 = 5_000
  /// If there are more candidates than this, they are not ours.
  static let mostCandidates = 64
  /// For one key: a longer list is circular, or too long to search.
  static let mostPages = 100

  init() {}

  init?(marker: String?) {
    guard let marker else { return }
    let fields = marker.split(separator: "&", omittingEmptySubsequences: false)
    guard fields.count == 2 else { return nil }
    let decoded = fields[0].split(separator: ",").map { PercentEncoding.decode($0.utf8) }
    candidates = decoded.compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }
    guard !fields[1].isEmpty else { return }
    let parts = fields[1].split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 3, let key = PercentEncoding.decode(parts[0].utf8),
      let uploadID = PercentEncoding.decode(parts[1].utf8), let number = Int(parts[2])
    else { return nil }
    page = Page(
      key: String(decoding: key, as: UTF8.self), uploadID: String(decoding: uploadID, as: UTF8.self), number: number)
  }

  /// nil if the search is complete.
  var marker: String? {
    if candidates.isEmpty && page == nil { return nil }
    let page =
      page.map { page in
        "\(PercentEncoding.component(page.key)),\(PercentEncoding.component(page.uploadID)),\(page.number)"
      } ?? ""
    return candidates.map { PercentEncoding.component($0) }.joined(separator: ",") + "&" + page
  }

  /// Whether a session that began at `initiated` according to the server may be a lost create of ours.
  ///
  /// `skewMs` is the server's clock minus ours. An unreadable time excludes nothing, nor does the constant time in
  /// answers of moto (the sample of the S3 documentation). Source: moto 5.2.1, seen 2026-11-21.
  static func isCandidate(initiated: String?, intendedAtMs: Int64, skewMs: Int64) -> Bool {
    guard let initiated, initiated != "2010-11-10T20:48:33.000Z", let began = CivilTime(rfc3339: initiated)?.wallMs
    else { return true }
    return began >= intendedAtMs + skewMs - graceMs
  }
}
