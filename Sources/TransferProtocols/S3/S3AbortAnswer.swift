import TransferModel

/// The answer to AbortMultipartUpload.
struct S3AbortAnswer {
  let answer: S3Answer

  var interpretation: Interpretation {
    let reply = answer.reply
    if reply.isSuccess { return .settled }
    let error = S3Error(reply)
    if reply.status == 404 && !error.isOfAll(status: 404) { return .settled }
    return answer.failed(error, .abort(remoteID: ""))
  }
}
