import HTTPServer

/// Authorizes requests before anything is read or changed. It depends on requests only, not on sockets.
struct ServeGuard: Sendable {
  /// Hosts that a browser may name besides numeric addresses and `localhost`.
  let hostNames: Set<String>
  /// Only programs on this machine can reach the server.
  let isLocal: Bool
  let mayControl: Bool
  let sessions: ServeSessions

  /// Why a request is refused, with its status code.
  struct Refusal: Error, Hashable {
    let status: Int
    let code: String
    let text: String
  }

  /// Checks in this order: host, origin, method, credentials.
  func check(_ request: HTTPRequest, _ route: ServeRoute) throws(Refusal) {
    try checkHost(request)
    try checkOrigin(request, route)
    guard route.methods.contains(request.method) else {
      throw Refusal(status: 405, code: "method", text: "only \(route.methods.joined(separator: " and ")) here")
    }
    if route == .health || route == .session { return }
    guard sessions.knows(request) else {
      throw Refusal(status: 401, code: "token", text: "this needs the token that transfers serve printed")
    }
    guard case .verb = route else { return }
    guard mayControl else {
      throw Refusal(status: 403, code: "read_only", text: "read-only: start transfers serve with --control")
    }
    // A form of another page cannot send this without a preflight request (Fetch Standard, CORS-safelisted request
    // headers).
    guard request["content-type"]?.lowercased().hasPrefix("application/json") == true else {
      throw Refusal(status: 415, code: "content_type", text: "the body must be application/json")
    }
  }

  /// A host name that somebody else can resolve to this server (DNS rebinding) is refused; that is impossible with an
  /// address.
  private func checkHost(_ request: HTTPRequest) throws(Refusal) {
    let host = Self.name(request["host"] ?? "")
    let isAddress = isLocal ? ListenAddress.isLoopback(host) : ListenAddress.isNumeric(host)
    guard isAddress || host == "localhost" || hostNames.contains(host) else {
      throw Refusal(status: 421, code: "host", text: "this host is not served here; --host-name allows a name")
    }
  }

  /// Pages of other origins may neither read nor change anything. Browsers send the origin (Fetch Standard, section
  /// 3.1; Fetch Metadata Request Headers); programs do not.
  private func checkOrigin(_ request: HTTPRequest, _ route: ServeRoute) throws(Refusal) {
    let host = request["host"] ?? ""
    if request.has("origin") {
      guard let origin = request["origin"], ["http://\(host)", "https://\(host)"].contains(origin) else {
        throw Refusal(status: 403, code: "origin", text: "the request comes from another page")
      }
    }
    guard request.has("sec-fetch-site") else { return }
    let site = request["sec-fetch-site"]
    if site == "same-origin" || site == "none" { return }
    let isNavigation = request["sec-fetch-mode"] == "navigate" && request["sec-fetch-dest"] == "document"
    guard route.isPage, isNavigation, request.method == "GET" else {
      throw Refusal(status: 403, code: "origin", text: "the request comes from another page")
    }
  }

  /// `127.0.0.1` of `127.0.0.1:8787`, `::1` of `[::1]:8787`, in lower case.
  static func name(_ host: String) -> String {
    let host = host.lowercased()
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" })
  }
}
