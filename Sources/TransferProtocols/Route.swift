/// Where a file is asked for while it is claimed: the place that redirects led to. Never stored or shown, for it may be
/// signed; the URL of the file stays what it was, and is asked again when the file is claimed the next time.
public struct Route: Sendable, Hashable {
  /// Absolute; nil for the URL of the file.
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

  mutating func go(to place: String) {
    if let url { left.append(url) }
    url = place
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
    (url, left) = (nil, [])
    returns += 1
  }

  /// Content came: what follows is another way.
  mutating func arrived() { (left, returns) = ([], 0) }
}
