import TransferModel

/// The answer to the concatenation. An error that may hide a success is treated like a lost answer, because the outcome
/// cannot be queried.
struct TusJoinAnswer {
  let answer: TusAnswer

  private var reply: TransferReply { answer.reply }

  var interpretation: Interpretation {
    let mayFollow = reply.mayFollowSuccess || reply.saysNothing
    switch reply.status {
    case _ where reply.isSuccess: return joined()
    case 404, 410: return unfinished()
    case 400 where TusError.isAboutParts(reply): return unfinished()
    case 409: return .failed(answer.failure, .retry(isThrottled: false))
    case 500 where TusError.code(reply) == "ERR_LOCK_TIMEOUT": return answer.refused()
    case 500, 502, 504, 520..<528, 598, 599: return inDoubt()
    case _ where mayFollow || (StatusClass(reply.status) == .throttled && reply.mayHideSuccess(answer.context)):
      return inDoubt()
    default: return answer.refused()
    }
  }

  /// No answer was received.
  static func lost(_ failure: Failure) -> Interpretation {
    let text = "the answer to joining the uploads was lost, and it may have taken effect: \(failure.message)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  private func inDoubt() -> Interpretation {
    .failed(Failure(afterDelivery: reply, answer.context, detail: TusError.text(reply)), .unknown)
  }

  private func joined() -> Interpretation {
    do throws(Failure) {
      return .settled.with(notes: [TusProtocol.finalNote: try answer.url()])
    } catch {
      return .failed(error, .unknown)
    }
  }

  private func unfinished() -> Interpretation {
    var failure = answer.failure
    failure.code = .protoSessionGone
    return .failed(failure, .sessionGone)
  }
}
