/// The URL from which a file is requested while it is claimed: one supplied by a command, and the target of redirects.
/// Never stored or shown, because both may be signed; the file keeps its own URL, and the next claim begins with that.
public struct Route: Sendable, Hashable {
  /// The absolute URL to begin with; nil for the file's own URL.
  public private(set) var start: String?
  /// The absolute target of redirects; nil for no redirect.
  public private(set) var url: String?
  /// URLs followed since content last arrived.
  private(set) var left: [String] = []
  /// A redirect led to another origin. Later requests carry no credentials, even if that origin leads back: it chooses
  /// what is fetched (the Fetch standard, HTTP-redirect fetch, removes `Authorization` for good, too).
  private(set) var leftOrigin = false
  /// How often since content last arrived a target was given up because it refused.
  private(set) var returns = 0
  /// The latest targets; each works as a secret.
  private(set) var places: [String] = []

  /// The number of targets that late answers may quote.
  private static let mostPlaces = 64

  public init() {}

  /// The URL to request; nil for the file's own URL.
  public var place: String? { url ?? start }

  /// There is no start URL, or it has expired. A redirect target is used as long as it answers.
  public func needsStart(wallMs: Int64) -> Bool {
    guard url == nil, let start else { return url == nil }
    return SignedURL.isExpired(start, wallMs: wallMs)
  }

  /// Begins at a URL other than the file's own.
  public mutating func begin(at place: String) {
    guard place != start else { return }
    (start, url, left, leftOrigin) = (place, nil, [], false)
    note(place)
  }

  /// Follows a redirect, which `leaves` the origin of the start or not.
  mutating func go(to place: String, leaves: Bool) {
    if let url { left.append(url) }
    url = place
    leftOrigin = leftOrigin || leaves
    note(place)
  }

  private mutating func note(_ place: String) {
    places = (places.filter { $0 != place } + [place]).suffix(Self.mostPlaces)
  }

  /// Adds the targets of another route: parallel answers may each have led to one.
  func remembering(_ other: Route) -> Route {
    var route = self
    route.places = (other.places.filter { !places.contains($0) } + places).suffix(Self.mostPlaces)
    return route
  }

  /// Returns to the file's own URL, because the target refused.
  mutating func goBack() {
    (start, url, left, leftOrigin) = (nil, nil, [], false)
    returns += 1
  }

  /// Content arrived: resets the redirect history.
  mutating func arrived() { (left, returns) = ([], 0) }
}
