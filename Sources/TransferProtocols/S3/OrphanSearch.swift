import TransferModel

/// Where the search for sessions of lost creates stands; travels through the engine as the marker of a probe.
///
/// A session is ours to abort only when all of this holds: its key is exactly ours, it began at or after the moment
/// when we wrote down that we meant to create one (5 s of grace for rounding), and it has no part. We never send a part
/// to a session whose id we do not know, so a lost create of ours has none; somebody else's that began in the same
/// seconds, for the same key, and is still empty, cannot be told apart. Whether it is empty is asked for each candidate
/// alone.
struct OrphanSearch: Hashable {
  struct Page: Hashable {
    var key: String
    var uploadID: String
    /// How many pages came before.
    var number: Int
  }

  /// Sessions that are not yet known to be empty.
  var candidates: [String] = []
  /// The next page of the listing; nil for the first one, or when there is none.
  var page: Page?

  /// The session may have begun so long before our intention, by the server's rounded clock.
  static let graceMs: Int64 = 5_000
  /// More than this many candidates are not ours.
  static let mostCandidates = 64
  /// Of one key: a list of more pages leads in a circle, or nobody can look through it.
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

  /// nil when the search is over.
  var marker: String? {
    if candidates.isEmpty && page == nil { return nil }
    let page =
      page.map { page in
        "\(PercentEncoding.component(page.key)),\(PercentEncoding.component(page.uploadID)),\(page.number)"
      } ?? ""
    return candidates.map { PercentEncoding.component($0) }.joined(separator: ",") + "&" + page
  }

  /// True when a session that the server says began at `initiated` may be a lost create of ours.
  ///
  /// `skewMs` is the server's clock minus ours. A time that cannot be read says nothing, nor does the one that moto
  /// answers always (the sample of the S3 documentation). Source: moto 5.2.1, seen 2026-11-21.
  static func isCandidate(initiated: String?, intendedAtMs: Int64, skewMs: Int64) -> Bool {
    guard let initiated, initiated != "2010-11-10T20:48:33.000Z", let began = CivilTime(rfc3339: initiated)?.wallMs
    else { return true }
    return began >= intendedAtMs + skewMs - graceMs
  }
}
