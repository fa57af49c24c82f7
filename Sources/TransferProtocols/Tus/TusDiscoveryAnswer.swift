import TransferModel

/// The answer to OPTIONS. A server that does not answer it may still accept uploads.
struct TusDiscoveryAnswer {
  let answer: TusAnswer

  var interpretation: Interpretation {
    var learned = answer.context.learned
    switch StatusClass(answer.reply.status) {
    case .success: learned.discovered = TusFeatures(answer.reply).values
    case .throttled, .redirect: return answer.refused()
    case .retry, .permanent: learned.discovered = TusFeatures.least.values
    }
    return .settled.with(learned: learned)
  }
}
