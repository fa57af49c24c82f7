import TransferModel

/// Where a profile may send, besides its destination.
public struct ProfileReach: Sendable, Hashable {
  var allowed: AllowedHosts
  /// One of the program's own: its servers may name other ones, from https to https and without credentials.
  var isBuiltin: Bool
  /// Inputs that were given by reference.
  var referenced: Set<String>

  public init(allowed: AllowedHosts? = nil, isBuiltin: Bool = false, referenced: Set<String> = []) {
    self.allowed = allowed ?? .none
    self.isBuiltin = isBuiltin
    self.referenced = referenced
  }
}

/// Bytes and secrets go to the destination, and to hosts that the person allows; a built-in profile may also follow the
/// URLs that its server names. Nothing goes from https to http.
extension ProfileProtocol {
  /// Who is behind the host of a request.
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
        "it would go to \(shown), which is not the destination: push with --allow-host \(printable(there.authority)) if it may"
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

  /// The servers that the destination and the profile name.
  private func origins(_ scope: ProfileScope) -> Set<WebOrigin> {
    var origins: Set<WebOrigin> = [origin]
    for template in profile.urls where template.isStatic {
      if let url = try? template.text(scope), let origin = WebOrigin(url: url) { origins.insert(origin) }
    }
    return origins
  }

  /// Mentions a secret, itself or through the headers of every step.
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

  /// A secret, or given by reference: never stored, shown or sent to a server that nobody named.
  func isHidden(_ input: ProfileInput) -> Bool { input.isSecret || reach.referenced.contains(input.name) }

  /// Hosts that can be known before anything is sent: of the destination, and those that the profile writes out.
  public var hosts: [String] {
    let named = Set(profile.urls.compactMap(origin(of:))).subtracting([origin])
    return [origin.description] + named.map(\.description).sorted()
  }

  /// - Throws: `.usage` for a profile that is sure to lead where it may not.
  func refuseForeignHosts() throws(TransferError) {
    for template in profile.urls {
      guard let there = origin(of: template), there != origin else { continue }
      let isPlain = origin.isTLS && !there.isTLS
      guard isPlain || !(reach.isBuiltin || reach.allowed.contains(there)) else { continue }
      throw TransferError(
        .usage, "use the profile", NameBytes(profile.name),
        cause: "it sends to \(printable(there.description)), and the destination is \(origin)",
        remedy: isPlain
          ? "correct the profile: nothing goes from https to plain http"
          : "pass --allow-host \(printable(there.authority)) if your files may go there")
    }
  }

  /// What a URL begins with, as far as inputs that were given as they are say it.
  private func origin(of template: Template) -> WebOrigin? {
    if let literal = template.literalOrigin { return literal }
    guard template.variables.allSatisfy({ $0.root == "input" }) else { return nil }
    var scope = ProfileScope()
    scope.input = inputs.mapValues { .string($0) }
    return (try? template.text(scope)).flatMap { WebOrigin(url: $0) }
  }
}

extension Profile {
  /// Of every request that it can make.
  var urls: [Template] {
    let steps = Array(steps.values) + [auth.refresh].compactMap { $0 }
    return [baseURL].compactMap { $0 } + steps.flatMap { [$0.url] + [$0.poll?.request?.url].compactMap { $0 } }
  }

  /// Origins that it writes out: `https://host`.
  public var writtenHosts: [String] { Set(urls.compactMap(\.literalOrigin)).map(\.description).sorted() }

  /// What else says where a request goes: steps whose URL is in an answer, and inputs with a host.
  public var serverNamedSteps: [String] {
    StepName.allCases.filter { name in
      guard let step = step(name) else { return false }
      return !step.url.isStatic || step.poll?.request.map { !$0.url.isStatic } ?? false
    }.map(\.rawValue)
  }
}

extension Template {
  /// The origin that it begins with in clear.
  var literalOrigin: WebOrigin? {
    guard case .text(let bytes)? = pieces.first else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let mark = text.firstRange(of: "://") else { return nil }
    let rest = text[mark.upperBound...]
    // Without its end the host may go on in what is filled in.
    guard pieces.count == 1 || rest.contains(where: { $0 == "/" || $0 == "?" }) else { return nil }
    return WebOrigin(url: text)
  }
}
