/// Where a file is asked for while it is claimed: a URL that a command gave for it, and the place that redirects led
/// to. Never stored or shown, for both may be signed; the URL of the file stays what it was, and the way begins there
/// when the file is claimed the next time.
public struct Route: Sendable, Hashable {
  /// Where the way begins, absolute; nil for the URL of the file.
  public private(set) var start: String?
  /// Where redirects led from there, absolute; nil for no redirect.
  public private(set) var url: String?
  /// Places that were left since content came.
  private(set) var left: [String] = []
  /// How often since then a place was given up because it refused.
  private(set) var returns = 0
  /// The newest places that it led to; each works as a secret.
  private(set) var places: [String] = []

  /// Answers that come late may quote so many.
  private static let mostPlaces = 64

  public init() {}

  /// What is asked; nil for the URL of the file.
  public var place: String? { url ?? start }

  /// There is no URL to begin at, or it says that its time is over. What redirects led to is asked as long as it
  /// answers.
  public func needsStart(wallMs: Int64) -> Bool {
    guard url == nil, let start else { return url == nil }
    return SignedURL.isExpired(start, wallMs: wallMs)
  }

  /// The way begins at another URL than that of the file.
  public mutating func begin(at place: String) {
    guard place != start else { return }
    (start, url, left) = (place, nil, [])
    note(place)
  }

  mutating func go(to place: String) {
    if let url { left.append(url) }
    url = place
    note(place)
  }

  private mutating func note(_ place: String) {
    places = (places.filter { $0 != place } + [place]).suffix(Self.mostPlaces)
  }

  /// With the places of another, which it does not know: answers that came side by side each led to one.
  func remembering(_ other: Route) -> Route {
    var route = self
    route.places = (other.places.filter { !places.contains($0) } + places).suffix(Self.mostPlaces)
    return route
  }

  /// To the URL of the file, because the place refused.
  mutating func goBack() {
    (start, url, left) = (nil, nil, [])
    returns += 1
  }

  /// Content came: what follows is another way.
  mutating func arrived() { (left, returns) = ([], 0) }
}
