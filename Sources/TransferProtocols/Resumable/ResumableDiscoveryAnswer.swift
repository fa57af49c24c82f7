import TransferModel

/// The answer to OPTIONS.
struct ResumableDiscoveryAnswer {
  let answer: ResumableAnswer

  var interpretation: Interpretation {
    let (reply, context) = (answer.reply, answer.context)
    guard case .unasked(let asked) = answer.resumable.discovery(answer.facts.learned).finding,
      case .unasked = answer.resumable.discovery(context.learned).finding
    else { return .settled }
    // The answer of a restarting gateway says nothing about the server behind it.
    let kind = StatusClass(reply.status)
    if kind == .throttled || (kind == .retry && context.failures < 2) { return answer.refused() }
    var learned = context.learned
    learned.discovered = Discovery.values(reply, asked: asked)
    return .settled.with(learned: learned)
  }
}
