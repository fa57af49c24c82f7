import TransferModel

/// How a profile divides files into chunks.
struct ProfileLayout {
  let profile: Profile
  /// Bytes, as the user requested.
  let partSize: Int64?

  func layout(size: Int64) throws(TransferError) -> ChunkLayout {
    guard case .bytes(let chosen) = profile.chunk.size else {
      try check(fileSize: size)
      return ChunkLayout(whole: size)
    }
    return try layout(size: size, chunkSize: try chunkSize(chosen), canGrow: partSize == nil && !profile.chunk.isFixed)
  }

  /// The layout after the session was opened and the server has chosen.
  func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout {
    guard case .session(let name) = profile.chunk.size else { return try layout(size: facts.file.size) }
    let value = SessionNotes(facts.session?.notes ?? [:]).sessionValues[name] ?? .missing("session.\(name)")
    guard let chunkSize = try? value.integer(), chunkSize >= 1 else {
      throw Self.limit("the server did not name a chunk size (session.\(name))")
    }
    return try layout(size: facts.file.size, chunkSize: chunkSize, canGrow: false)
  }

  private func layout(size: Int64, chunkSize: Int64, canGrow: Bool) throws(TransferError) -> ChunkLayout {
    try check(fileSize: size)
    if profile.chunk.mode == .single { return ChunkLayout(whole: size) }
    var layout = cut(size, chunkSize)
    if layout.count > profile.chunk.maxCount, canGrow {
      let least = size.dividedUp(by: Int64(profile.chunk.maxCount))
      let step = profile.chunk.multipleOf
      layout = cut(size, least.dividedUp(by: step) *| step)
    }
    guard layout.count <= profile.chunk.maxCount, layout.count == 1 || layout.chunkSize <= profile.chunk.maxSize else {
      throw Self.limit("the file of \(size) bytes needs more than the \(profile.chunk.maxCount) chunks of the profile")
    }
    return layout
  }

  /// A server may name any size; larger ones than this make one chunk of any file, and keep sums in range.
  private static let largestChunk: Int64 = 1 << 60

  private func cut(_ size: Int64, _ chunkSize: Int64) -> ChunkLayout {
    let chunkSize = min(chunkSize, Self.largestChunk)
    guard profile.chunk.remainder == .lastAbsorbs else { return ChunkLayout(size: size, chunkSize: chunkSize) }
    return ChunkLayout(size: size, chunkSize: chunkSize, count: max(1, Int(clamping: size / chunkSize)))
  }

  /// The size of the profile, or the user's if the profile allows it.
  private func chunkSize(_ chosen: Int64) throws(TransferError) -> Int64 {
    let rules = profile.chunk
    guard let partSize, rules.mode != .single else { return chosen }
    guard !rules.isFixed || partSize == chosen else {
      throw Self.limit("chunks of this profile have \(chosen) bytes, not \(partSize)")
    }
    guard (rules.minSize...rules.maxSize).contains(partSize), partSize % rules.multipleOf == 0, partSize > 0 else {
      throw Self.limit(
        "chunks of this profile have \(rules.minSize) to \(rules.maxSize) bytes, in multiples of \(rules.multipleOf)")
    }
    return partSize
  }

  private func check(fileSize size: Int64) throws(TransferError) {
    let rules = profile.file
    guard size >= rules.minSize, size <= rules.maxSize ?? .max else {
      let most = rules.maxSize.map { " to \($0)" } ?? ""
      throw Self.limit("the profile accepts files of \(rules.minSize)\(most) bytes, but this one has \(size)")
    }
  }

  private static func limit(_ cause: String) -> TransferError {
    TransferError(.usage, "cut the file", cause: cause, remedy: "choose another --part-size, or another profile")
  }
}
