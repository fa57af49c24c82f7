extension Profile {
  /// The URLs of all requests that it can make.
  var urls: [Template] {
    let steps = Array(steps.values) + [auth.refresh].compactMap { $0 }
    return [baseURL].compactMap { $0 } + steps.flatMap { [$0.url] + [$0.poll?.request?.url].compactMap { $0 } }
  }

  /// Origins that are written in it: `https://host`.
  public var writtenHosts: [String] { Set(urls.compactMap(\.literalOrigin)).map(\.description).sorted() }

  /// Other places that determine a URL: steps whose URL comes from an answer, and inputs with a host.
  public var serverNamedSteps: [String] {
    StepName.allCases.filter { name in
      guard let step = step(name) else { return false }
      return !step.url.isStatic || step.poll?.request.map { !$0.url.isStatic } ?? false
    }.map(\.rawValue)
  }
}

extension Template {
  /// The origin at its start, if that is literal text.
  var literalOrigin: WebOrigin? {
    guard case .text(let bytes)? = pieces.first else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let mark = text.firstRange(of: "://") else { return nil }
    let rest = text[mark.upperBound...]
    // Without a delimiter the host may continue in an inserted value.
    guard pieces.count == 1 || rest.contains(where: { $0 == "/" || $0 == "?" }) else { return nil }
    return WebOrigin(url: text)
  }
}
