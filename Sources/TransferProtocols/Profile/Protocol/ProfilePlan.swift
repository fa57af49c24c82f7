import TransferModel

/// How many requests a file needs that is sent as a profile describes.
struct ProfilePlan {
  let proto: ProfileProtocol

  /// The number of requests of the profile's steps. Changes by answers and by conditions on them cannot be foreseen,
  /// and neither can the number of polls.
  func requests(size: Int64) throws(TransferError) -> Int {
    let layout = try proto.layout(size: size)
    let file = FileFacts(uid: UID(high: 0x7000, low: 1 << 63), key: NameBytes(""), size: size, mtimeMs: 0)
    let progress = ProfileProgress(proto, TransferFacts(file: file, layout: layout))
    func count(_ name: StepName?) -> Int {
      guard let name, let step = proto.profile.step(name), !step.isOfDoubt, progress.isWanted(step) else { return 0 }
      return 1
    }
    let ends = [proto.finishName, proto.saveName].filter { count($0) > 0 }
    // The answer to the last of these may be sufficient proof.
    let isProved = ends.last?.flatMap { proto.profile.step($0) }.map(Self.provesFile) ?? false
    let last = ends.count + (isProved ? 0 : count(.verify))
    // For an empty file it depends on the session; bytes are always sent.
    let isLeftOut = size == 0 && count(.chunk) == 0
    return count(.begin) + (isLeftOut ? 0 : layout.count * (1 + count(.prepareChunk))) + last
  }

  private static func provesFile(_ step: ProfileStep) -> Bool {
    step.success.requirements.contains { $0.namesHash(of: "file") || $0.names("file", field: "size") }
  }
}
