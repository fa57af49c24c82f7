import TransferModel

/// The answer to CreateMultipartUpload.
struct S3CreateAnswer {
  let answer: S3Answer

  /// Maximum length in bytes; the ID goes into the URL of each part. MinIO's have some 150, AWS's 128.
  private static let longestUploadID = 2 << 10

  var interpretation: Interpretation {
    let reply = answer.reply
    guard reply.status == 200 else { return answer.failed(S3Error(reply), .create) }
    guard let root = reply.completeDocument,
      root.name == "InitiateMultipartUploadResult" || root.name.hasSuffix("Response"),
      let remoteID = root.value("UploadId"), remoteID.utf8.count <= Self.longestUploadID
    else { return answer.badReply("no upload id in the answer to create", .probe) }
    return .opened(OpenedSession(remoteID: remoteID, expiresAtMs: nil))
  }
}
