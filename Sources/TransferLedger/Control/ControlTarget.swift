import TransferModel

/// One selected file, as far as control needs it.
struct ControlTarget {
  var id: FileID
  var state: FileState
  var wish: Wish?
  var isHidden: Bool
  /// Its source is to be deleted or moved, and was not yet.
  var isToGo = false
  /// Has a source that was read and no newer generation. Only looked up where a retry could start.
  var isRepeatable: Bool
}

extension ControlOutcome {
  /// Files the target where the verb puts it.
  mutating func add(_ target: ControlTarget, _ verb: ControlVerb) {
    switch verb.effect(on: target) {
    case .change:
      changed.append(target.id)
      if target.isToGo { keptSources += 1 }
    case .ask: asked.append(target.id)
    case .none:
      unaffected[target.state, default: 0] += 1
      if case .retry = verb, !target.isRepeatable, target.state.isRetryable { unrepeatable += 1 }
    }
  }
}

extension ControlVerb {
  enum Effect { case change, ask, none }

  func effect(on target: ControlTarget) -> Effect {
    switch self {
    case .pause(let now): pauseEffect(target, now)
    case .resume: target.state == .paused || target.wish?.isPause == true ? .change : .none
    case .cancel: cancelEffect(target)
    case .retry: target.state.isRetryable && target.isRepeatable ? .change : .none
    case .resolve: target.state == .unknown ? .change : .none
    case .remove: target.state.isRunning ? .ask : target.isHidden ? .none : .change
    case .clean(let failed): cleanEffect(target, failed)
    }
  }

  /// What is to be removed is cancelled with it, and stays to be removed. A done file stays done, and keeps its source.
  private func cancelEffect(_ target: ControlTarget) -> Effect {
    if target.state.isCancellable || target.isToGo { return .change }
    return target.state.isRunning && target.wish != .remove ? .ask : .none
  }

  /// What is to be cancelled is not to be paused instead.
  private func pauseEffect(_ target: ControlTarget, _ now: Bool) -> Effect {
    if target.state == .pending { return .change }
    // Nobody sends it yet. It settles all the same, and is paused then.
    if target.state == .settling { return target.wish == nil ? .change : .none }
    guard target.state.isRunning else { return .none }
    switch target.wish {
    case nil, .pause: return .ask
    case .pauseNow: return now ? .ask : .none
    case .cancel, .remove: return .none
    }
  }

  private func cleanEffect(_ target: ControlTarget, _ failed: Bool) -> Effect {
    guard !target.isHidden else { return .none }
    switch target.state {
    case .done, .cancelled, .superseded: return .change
    case .failed: return failed ? .change : .none
    case .settling, .pending, .active, .finishing, .paused, .unknown: return .none
    }
  }
}

extension Wish {
  var isPause: Bool { self == .pause || self == .pauseNow }
}

extension FileState {
  /// An engine has it.
  var isRunning: Bool { self == .active || self == .finishing }
  var isRetryable: Bool { self == .failed || self == .cancelled || self == .unknown }

  /// Ends at once when it is called off.
  var isCancellable: Bool {
    switch self {
    case .settling, .pending, .paused, .unknown: true
    case .active, .finishing, .done, .failed, .cancelled, .superseded: false
    }
  }
}
