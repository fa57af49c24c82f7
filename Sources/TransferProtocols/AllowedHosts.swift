import TransferModel

/// Hosts other than the destination that the user allows: `HOST` (with the default port of the scheme), `HOST:PORT`,
/// and `*.DOMAIN` for every host below a domain.
public struct AllowedHosts: Sendable, Hashable {
  private struct Entry: Hashable {
    var host: String
    var isDomain: Bool
    /// nil for the default port of either scheme.
    var port: Int?
  }

  private let entries: [Entry]

  /// - Throws: `.usage` for an invalid host.
  public init(_ texts: [String] = []) throws(TransferError) {
    var entries: [Entry] = []
    for text in texts {
      let isDomain = text.hasPrefix("*.")
      do throws(OriginFault) {
        let origin = try WebOrigin(isTLS: true, authority: isDomain ? text.dropFirst(2) : text[...])
        entries.append(Entry(host: origin.host, isDomain: isDomain, port: origin.port))
      } catch {
        throw TransferError(
          .usage, "read --allow-host", NameBytes(text), cause: error.cause,
          remedy: "write HOST, HOST:PORT or *.DOMAIN, without a scheme and a path")
      }
    }
    self.entries = entries
  }

  /// For hosts that were checked before.
  static let none = AllowedHosts(entries: [])
  private init(entries: [Entry]) { self.entries = entries }

  func contains(_ origin: WebOrigin) -> Bool {
    entries.contains { entry in
      let isHost = entry.isDomain ? origin.host.hasSuffix("." + entry.host) : origin.host == entry.host
      // An explicit 80 also matches a plain HTTP origin, which has no port.
      return isHost && (entry.port == origin.port || (entry.port == 80 && origin.port == nil && !origin.isTLS))
    }
  }
}
