import TransferModel

/// One part of what an answer to a step of a profile may mean; the parts refer to each other.
protocol ProfileAnswerPart {
  var answer: ProfileAnswer { get }
}

extension ProfileAnswerPart {
  var proto: ProfileProtocol { answer.proto }
  var step: StepRequest { answer.step }
  var name: StepName? { answer.name }
  var rules: ProfileStep { answer.rules }
  var reply: TransferReply { answer.reply }
  var reader: ReplyReader { answer.reader }
  var facts: TransferFacts { answer.facts }
  var context: RequestContext { answer.context }
  var scope: ProfileScope { answer.scope }
  var notes: SessionNotes { answer.notes }
  var chunk: ChunkFacts? { answer.chunk }
  var failures: Int { answer.failures }

  var progress: ProfileProgress { ProfileProgress(proto, facts) }
  var checks: ProfileRequirements { ProfileRequirements(answer: answer) }
  var refusals: ProfileRefusals { ProfileRefusals(answer: answer) }
  var success: ProfileSuccess { ProfileSuccess(answer: answer) }
  var chunks: ProfileChunkAnswer { ProfileChunkAnswer(answer: answer) }
  var verification: ProfileVerification { ProfileVerification(answer: answer) }
  var waiting: ProfileWait { ProfileWait(answer: answer) }
}
