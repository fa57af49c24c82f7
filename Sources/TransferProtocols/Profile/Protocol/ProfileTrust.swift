import TransferModel

/// Bytes and secrets are sent to the destination, and to hosts that the user allows; a built-in profile may also follow
/// the URLs that its server sends. Nothing is sent from https to http.
struct ProfileTrust {
  let profile: Profile
  /// The literal inputs, by name.
  let inputs: [String: String]
  let origin: WebOrigin
  let reach: ProfileReach

  /// Who named the host of a request.
  enum NamedBy {
    case person, server
  }

  func trust(
    _ request: RenderedRequest, _ source: RenderedRequest.Source, _ scope: ProfileScope
  ) throws(RenderFault) -> NamedBy {
    guard let there = WebOrigin(url: request.url), there != origin else { return .person }
    let shown = printable(there.description)
    guard there.isTLS || !origin.isTLS else {
      throw RenderFault(.value, "it would go from https to plain http (\(shown))")
    }
    let isAllowed = reach.allowed.contains(there)
    let isFollowed = reach.isBuiltin && (source.url.isStatic || there.isTLS && origin.isTLS)
    let mayCarrySecrets = isAllowed && origins(scope).contains(there)
    guard isAllowed || isFollowed else {
      throw RenderFault(
        .value,
        "it would go to \(shown), which is not the destination: to permit it, push with --allow-host \(printable(there.authority))"
      )
    }
    guard mayCarrySecrets || (!source.usesAuth && !isSecret(source)) else {
      throw RenderFault(
        .value,
        "the server points to another server (\(shown)), where credentials do not go; a step that is meant to go there says auth: off"
      )
    }
    return isAllowed || source.url.isStatic ? .person : .server
  }

  /// The servers named by the destination and the profile.
  private func origins(_ scope: ProfileScope) -> Set<WebOrigin> {
    var origins: Set<WebOrigin> = [origin]
    for template in profile.urls where template.isStatic {
      if let url = try? template.text(scope), let origin = WebOrigin(url: url) { origins.insert(origin) }
    }
    return origins
  }

  /// Whether it contains a secret, directly or through the headers for all steps.
  private func isSecret(_ source: RenderedRequest.Source) -> Bool {
    let secrets = Set(profile.inputs.filter(isHidden).map(\.name))
    let variables = source.variables + profile.headers.flatMap(\.value.variables)
    return variables.contains { variable in
      guard variable.root == "input", case .field(let name)? = variable.accesses.first else {
        return variable.root == "secret"
      }
      return secrets.contains(name)
    }
  }

  /// A secret, or given by reference: never stored, shown or sent to a server that neither the user nor the profile
  /// named.
  func isHidden(_ input: ProfileInput) -> Bool { input.isSecret || reach.referenced.contains(input.name) }

  /// Hosts that are known before anything is sent: that of the destination, and those written in the profile.
  var hosts: [String] {
    let named = Set(profile.urls.compactMap(origin(of:))).subtracting([origin])
    return [origin.description] + named.map(\.description).sorted()
  }

  /// - Throws: `.usage` for a profile that certainly contacts a host that is not allowed.
  func refuseForeignHosts() throws(TransferError) {
    for template in profile.urls {
      guard let there = origin(of: template), there != origin else { continue }
      let isPlain = origin.isTLS && !there.isTLS
      guard isPlain || !(reach.isBuiltin || reach.allowed.contains(there)) else { continue }
      throw TransferError(
        .usage, "use the profile", NameBytes(profile.name),
        cause: "it sends to \(printable(there.description)), but the destination is \(origin)",
        remedy: isPlain
          ? "correct the profile: nothing goes from https to plain http"
          : "pass --allow-host \(printable(there.authority)) if your files may go there")
    }
  }

  /// The origin of a URL, as far as inputs with literal values determine it.
  private func origin(of template: Template) -> WebOrigin? {
    if let literal = template.literalOrigin { return literal }
    guard template.variables.allSatisfy({ $0.root == "input" }) else { return nil }
    var scope = ProfileScope()
    scope.input = inputs.mapValues { .string($0) }
    return (try? template.text(scope)).flatMap { WebOrigin(url: $0) }
  }
}
