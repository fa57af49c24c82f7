import StrictYAML

/// Decodes how a step waits until the server is done.
struct PollDecoder {
  let templates: TemplateReader
  /// The step, for display.
  let what: String

  private var nodes: NodeReader { templates.nodes }

  func poll(_ node: YAMLNode) -> PollRules? {
    let keys = ["while", "every", "retry_after", "max", "request"]
    guard let map = nodes.map(node, "\(what).poll", keys: keys),
      let condition = nodes.required("while", map, "\(what).poll")
    else { return nil }
    let conditions = ConditionDecoder(templates: templates)
    var poll = PollRules(condition: conditions.condition(condition, "\(what).poll.while"))
    poll.everyMs = max(100, nodes.duration(map["every"], "every") ?? poll.everyMs)
    poll.honoursRetryAfter = nodes.bool(map["retry_after"], "retry_after", true)
    poll.maxMs = nodes.duration(map["max"], "max") ?? poll.maxMs
    poll.request = map["request"].flatMap { request($0) }
    return poll
  }

  private func request(_ node: YAMLNode) -> PollRequest? {
    let requests = RequestDecoder(templates: templates, what: "\(what).poll.request")
    let keys = ["method", "url", "query", "headers", "auth"]
    guard let map = nodes.map(node, requests.what, keys: keys), let url = requests.url(map) else { return nil }
    return PollRequest(
      method: requests.method(map), url: url, query: requests.query(map), headers: requests.headers(map),
      usesAuth: requests.usesAuth(map))
  }
}
