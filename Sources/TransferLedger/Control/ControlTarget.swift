import TransferModel

/// The data of one selected file that a control verb needs.
struct ControlTarget {
  var id: FileID
  var state: FileState
  var requestedAction: RequestedAction?
  var isHidden: Bool
  /// It has a staged copy, which is released when it is removed.
  var hasCopy = false
  /// Its source will be deleted or moved, but has not been yet.
  var isToGo = false
  /// A run has begun to remove its source, and may have done so.
  var isGoing = false
  /// Its object may be the only copy. Removing the file gives it up, even if the file was hidden before.
  var isOnlyCopy = false
  /// Its source is known and it has no newer generation. Only looked up for files in a state that can be retried.
  var isRepeatable: Bool
  /// It was cancelled when its request may have delivered it, and has no newer generation.
  var mayHaveArrived = false
  /// It was resolved as cancelled.
  var isResolved = false
}

extension ControlOutcome {
  /// Counts the target by the effect of the verb.
  mutating func add(_ target: ControlTarget, _ verb: ControlVerb, sparesUncertain: Bool = false) {
    let effect = verb.effect(on: target)
    if sparesUncertain, target.mayHaveArrived, case .retry = verb, effect == .change {
      uncertain.append(target.id)
      unaffected[target.state, default: 0] += 1
      return
    }
    switch effect {
    case .change:
      changed.append(target.id)
      if target.isGoing { going.append(target.id) } else if target.isToGo { keptSources += 1 }
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
    case .resume: target.state == .paused || target.requestedAction?.isPause == true ? .change : .none
    case .cancel: cancelEffect(target)
    case .retry: target.state.isRetryable && target.isRepeatable ? .change : .none
    case .resolve(let resolution, _): resolveEffect(target, resolution)
    case .remove:
      target.state.isRunning ? .ask : target.isHidden && !target.hasCopy && !target.isOnlyCopy ? .none : .change
    case .clean(let failed): cleanEffect(target, failed)
    }
  }

  /// A file to be removed will be cancelled anyway, and its removal stays requested. A done file stays done, and its
  /// source is kept.
  private func cancelEffect(_ target: ControlTarget) -> Effect {
    if target.state.isCancellable || target.isToGo { return .change }
    return target.state.isRunning && target.requestedAction != .remove ? .ask : .none
  }

  /// Also decides about what was cancelled before anybody knew whether it had arrived.
  private func resolveEffect(_ target: ControlTarget, _ resolution: Resolution) -> Effect {
    if target.state == .unknown { return .change }
    guard target.mayHaveArrived else { return .none }
    return switch resolution {
    case .done: .change
    case .retry: target.isRepeatable ? .change : .none
    case .cancel: target.isResolved ? .none : .change
    }
  }

  /// A requested cancellation is not replaced by a pause.
  private func pauseEffect(_ target: ControlTarget, _ now: Bool) -> Effect {
    if target.state == .pending { return .change }
    // It is not being sent yet. It keeps settling, and is paused afterwards.
    if target.state == .settling { return target.requestedAction == nil ? .change : .none }
    guard target.state.isRunning else { return .none }
    switch target.requestedAction {
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

extension RequestedAction {
  var isPause: Bool { self == .pause || self == .pauseNow }
}

extension FileState {
  /// An engine has claimed it.
  var isRunning: Bool { self == .active || self == .finishing }
  var isRetryable: Bool { self == .failed || self == .cancelled || self == .unknown }

  /// Is cancelled immediately on request.
  var isCancellable: Bool {
    switch self {
    case .settling, .pending, .paused, .unknown: true
    case .active, .finishing, .done, .failed, .cancelled, .superseded: false
    }
  }
}
