import TransferModel

/// The answer to a request that creates an upload: an empty one, one with its first body, or one that will be joined
/// with others.
struct TusCreationAnswer {
  let answer: TusAnswer

  private var reply: TransferReply { answer.reply }
  private var context: RequestContext { answer.context }

  var empty: Interpretation {
    guard reply.isSuccess else { return refused() }
    do throws(Failure) {
      let opened = try opened()
      guard answer.facts.file.size == 0 else { return .opened(opened) }
      // No body follows: the upload is already complete.
      return .offset(0).with(opened: opened)
    } catch {
      return .failed(error, .permanent)
    }
  }

  func withBody(_ chunk: ChunkFacts) -> Interpretation {
    guard reply.isSuccess else { return reply.status == 460 ? answer.refused() : refused() }
    do throws(Failure) {
      let opened = try opened()
      let stored = reply.number("upload-offset") ?? 0
      guard stored > 0 else {
        return .failed(OffsetFailure.stoodStill(0), .repair).with(opened: opened)
          .with(learned: context.learned.without("creation-with-upload"))
      }
      return TusBodyAnswer(answer: answer, chunk: chunk).progress(to: stored, isChecked: false).with(opened: opened)
    } catch {
      return .failed(error, .permanent)
    }
  }

  /// The upload of a chunk, which will be joined with those of the others.
  var partial: Interpretation {
    if reply.status == 501 || TusError.code(reply).contains("CONCAT") {
      let failure = Failure(.protoUnsupported, "the server announces concatenation, but refuses it")
      return .failed(failure, .sessionGone).with(learned: context.learned.without("concatenation"))
    }
    guard reply.isSuccess else { return refused() }
    do throws(Failure) {
      let url = try answer.url()
      return .chunkPrepared(["url": url, "written": reply.field("location") ?? url])
    } catch {
      return .failed(error, .permanent)
    }
  }

  private func opened() throws(Failure) -> OpenedSession {
    OpenedSession(remoteID: try answer.url(), expiresAtMs: answer.expiresAtMs)
  }

  /// Nothing was created, so a conflict or a lock is temporary.
  private func refused() -> Interpretation {
    switch reply.status {
    case 405:
      var failure = answer.failure
      failure.message +=
        "; uploads are created by POST at one URL: give that as the destination, with {path} in its query if the server needs the name"
      return .failed(failure, .permanent)
    case 409: return .failed(answer.failure, .retry(isThrottled: false))
    case 412: return .failed(answer.versionFailure, .permanent)
    default: return answer.refused()
    }
  }
}
