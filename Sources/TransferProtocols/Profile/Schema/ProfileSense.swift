import StrictYAML

/// Detects well-formed settings that cannot work, before a server does.
struct ProfileSense {
  let nodes: NodeReader
  let profile: Profile

  /// - Parameters:
  ///   - map: the whole profile.
  ///   - rules: all rules in it.
  func check(_ map: NodeMap, _ rules: [PlacedRule]) {
    guard let stepsNode = map["steps"], let entries = stepsNode.entries else { return }
    for entry in entries {
      guard let name = StepName(rawValue: entry.key), let step = profile.steps[name] else { continue }
      check(step, name, entry.keyMark)
    }
    for placed in rules { check(placed) }
    checkChunk(map, stepsNode.mark)
    if profile.onAmbiguousLast == .probe, profile.step(.probe) == nil, let node = map["on_ambiguous_last"] {
      nodes.fault(node.mark, "there is no step probe")
    }
  }

  private func check(_ step: ProfileStep, _ name: StepName, _ mark: SourceMark) {
    if name == .chunk, !step.body.sendsFile {
      nodes.fault(mark, "the step chunk sends no bytes of the file: its body has to be raw, or multipart with a file")
    }
    if name != .chunk, step.body.sendsFile { nodes.fault(mark, "only the step chunk sends bytes of the file") }
  }

  private func checkChunk(_ map: NodeMap, _ mark: SourceMark) {
    if case .session = profile.chunk.size, profile.step(.begin) == nil {
      nodes.fault(mark, "chunk.size comes from the session, and no step init opens one")
    }
    if profile.step(.chunk)?.when != nil, profile.step(.begin) == nil {
      nodes.fault(
        mark, "steps.chunk.when leaves the request of an empty file out, and no step init would make the file")
    }
    if let method = profile.step(.chunk)?.method, !ProfileStep.isIdempotent(method), !Self.saysIdempotent(map) {
      nodes.fault(
        mark,
        "\(method) is not idempotent by definition: say in chunk.idempotent whether the server takes the same chunk twice (true) or would keep it twice (false)"
      )
    }
    if profile.chunk.mode == .parallel, profile.step(.chunk)?.offset != nil {
      nodes.fault(mark, "a chunk step with \"offset\" appends, and chunks that are appended are not parallel")
    }
  }

  private static func saysIdempotent(_ map: NodeMap) -> Bool {
    map["chunk"]?.entries?.contains { $0.key == "idempotent" } ?? false
  }

  /// Detects actions without anything to act on, and those that would cause a loop.
  private func check(_ placed: PlacedRule) {
    let (rule, name, mark) = (placed.rule, placed.step, placed.mark)
    let what = "a rule of \(name?.rawValue ?? placed.what)"
    switch rule.action {
    case .reprobe:
      if profile.step(.probe) == nil { nodes.fault(mark, "\(what) asks to probe, and there is no step probe") }
      if name == .probe { nodes.fault(mark, "\(what) asks to probe: that is a loop") }
    case .restartSession:
      if name == .begin { nodes.fault(mark, "\(what) restarts the session that is being opened: that is a loop") }
    case .prepareAgain:
      if profile.step(.prepareChunk) == nil {
        nodes.fault(mark, "\(what) prepares again, and there is no step prepare_chunk")
      }
      if name == .prepareChunk { nodes.fault(mark, "\(what) prepares again: that is a loop") }
    case .makeParents:
      if profile.step(.makeParent) == nil {
        nodes.fault(mark, "\(what) makes parents, and there is no step make_parent")
      }
      if name == .makeParent { nodes.fault(mark, "\(what) makes parents: that is a loop") }
    case .skipChunk, .setOffset, .shrinkChunk:
      if let name, !name.isOfChunk {
        nodes.fault(mark, "\(what) is about a chunk (\(rule.action.rawValue)), and the step is not")
      }
    case .ok, .retry, .retryAfter, .refreshAuth, .fail: break
    }
  }
}
