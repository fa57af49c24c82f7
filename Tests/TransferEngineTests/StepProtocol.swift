import HTTPTypes
import TransferModel
import TransferProtocols

/// A protocol of which only the steps matter: nothing is sent, and no answer is interpreted.
protocol StepProtocol: TransferProtocol {}

extension StepProtocol {
  var sentDigest: DigestAlgorithm { .crc32c }
  func refusal(ofKey key: NameBytes) -> Failure? { nil }
  func location(ofKey key: NameBytes) -> String { "test://\(key)" }

  func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest { TransferRequest(method: .put, url: "http://127.0.0.1/") }

  func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation { .settled }
}
