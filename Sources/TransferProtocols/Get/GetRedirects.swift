import TransferModel

/// Redirects (RFC 9110 section 15.4): the file is requested from the place that they name, without our credentials if
/// that is another origin, until it refuses or the file is claimed again.
extension WebSource {
  static let mostRedirects = 10
  private static let longestURL = 8_192

  /// The meaning of a redirect; nil for other answers.
  func redirected(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation? {
    guard [301, 302, 303, 307, 308].contains(reply.status) else { return nil }
    let failure = Failure(redirect: reply, remedy: "the file is requested from there")
    // Another request of the file has already found the new route.
    guard (context.routeWhenSent ?? facts.route).place == facts.route.place else {
      return .failed(failure, .elsewhere)
    }
    do throws(Failure) {
      return .failed(failure, .elsewhere).with(route: try route(behind: reply, facts))
    } catch {
      return .failed(error, .permanent)
    }
  }

  private func route(behind reply: TransferReply, _ facts: TransferFacts) throws(Failure) -> Route {
    let original = facts.route.start ?? location(ofKey: facts.file.key)
    let here = facts.route.url ?? original
    guard let location = reply.field("location"), !location.isEmpty else {
      throw Failure(.protoBadReply, "the server answered \(reply.status) without a Location")
    }
    // The fragment is removed, because it is never sent.
    let url = URLReference.resolve(location, against: here)
    guard url.utf8.count <= Self.longestURL, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let origin = WebOrigin(url: url)
    else {
      throw Failure(
        .httpRedirect, "the Location of the answer \(reply.status) is not an http or https URL without user information"
      )
    }
    guard origin.isTLS || WebOrigin(url: here)?.isTLS == false else {
      throw Failure(.httpRedirect, "the server redirects from https to \(origin), where anybody could read the file")
    }
    let route = facts.route
    guard url != original, url != here, !route.left.contains(url) else {
      throw Failure(.httpRedirect, "redirect loop through \(origin)")
    }
    guard route.left.count + (route.url == nil ? 0 : 1) < Self.mostRedirects else {
      throw Failure(.httpRedirect, "more than \(Self.mostRedirects) redirects, the last to \(origin)")
    }
    var next = route
    next.go(to: url, leaves: origin != WebOrigin(url: original))
    return next
  }

  /// The meaning of a refusal by a place that redirects led to, or that a command supplied, such as a signed URL that
  /// has expired: the route starts again, the first time at once, after further refusals with a wait. nil for other
  /// answers.
  func refusedElsewhere(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation? {
    // A mirror that refuses directly is skipped.
    guard let sent = context.routeWhenSent, sent.place != nil, facts.mirror == 0 || sent.url != nil,
      [400, 401, 403, 404, 410].contains(reply.status)
    else {
      return nil
    }
    // 401 says nothing about our credentials, which were not sent.
    let code = reply.status == 401 ? ErrorCode.http4xx : nil
    let detail = sent.url == nil ? "to the signed URL" : "behind a redirect"
    let failure = Failure(answer: reply, code: code, detail: detail, wallMs: context.wallMs)
    guard sent.place == facts.route.place else { return .failed(failure, .elsewhere) }
    var back = facts.route
    back.goBack()
    if facts.route.returns == 0 { return .failed(failure, .elsewhere).with(route: back) }
    // The target of the route may allow the request later, and the signer of the URLs may have newer credentials by
    // then (S3 answers 400 to expired ones). A file that does not exist is final.
    let mayPass = reply.status == 401 || reply.status == 403 || (sent.start != nil && reply.status != 404)
    return .failed(failure, mayPass ? .retry(isThrottled: false) : .permanent).with(route: back)
  }
}
