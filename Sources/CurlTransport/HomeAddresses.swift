internal import CSys
internal import TransferModel

/// Which destinations have addresses of this machine or of private networks. Each is looked up when that is needed, and
/// the answer is used for a minute: a VPN may change what a name means. A look-up without an answer is not kept.
final class HomeAddresses: Sendable {
  static let shared = HomeAddresses()
  /// How long an answer is used, in nanoseconds.
  static let lifeNs: Int64 = 60_000_000_000

  private let lookUp: @Sendable (Origin) -> Bool?
  private let known = Lock<[String: (isSpecial: Bool, endNs: Int64)]>([:])

  /// - Parameter lookUp: whether all addresses of a destination are special; nil if nobody can tell at the moment.
  init(lookUp: @escaping @Sendable (Origin) -> Bool? = HomeAddresses.resolved) { self.lookUp = lookUp }

  /// Whether the destination has such an address; nil if nobody can tell at the moment. May block for a DNS query.
  func isSpecial(_ home: String, nowNs: Int64 = csys_boottime_ns()) -> Bool? {
    guard let origin = try? Origin(url: home) else { return false }
    if let known = known.withLock({ $0[origin.host] }), nowNs < known.endNs { return known.isSpecial }
    guard let isSpecial = lookUp(origin) else { return nil }
    known.withLock { $0[origin.host] = (isSpecial, nowNs + Self.lifeNs) }
    return isSpecial
  }

  /// Where only the proxy can resolve names, that of the destination counts as public.
  private static func resolved(_ home: Origin) -> Bool? {
    SpecialAddress.isSpecial(name: home.host) ?? (ProxyRoute.isProxied(home) ? false : nil)
  }
}
