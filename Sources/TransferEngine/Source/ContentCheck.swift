public import TransferLedger
public import TransferModel
import TransferProtocols

/// Compares a source that has another ctime or device than before with what was sent of it.
public enum ContentCheck {
  private static let bufferSize = 256 << 10
  /// How often a comparison begins anew because ctime moved again meanwhile.
  private static let patience = 3

  /// Whether the file at `path` holds what was sent of `moved`, and its identity then. What cannot be read or compared counts as
  /// other content. Blocking: reads the file.
  public static func verdict(
    of path: NameBytes, _ moved: MovedFile, _ content: SentContent
  ) -> (verdict: ContentVerdict, identity: SourceIdentity?) {
    let file = try? SourceFile(path: path)
    let now = file.flatMap { try? identity(of: $0, known: moved.identity, content) }
    return (now == nil ? .other(moved.file) : .same(moved.file), now ?? file?.identity)
  }

  /// The identity that `file` has now, when it is the version that was known as `known`, of which `content` was sent; nil when it is
  /// another, or nobody can tell.
  ///
  /// A file that differs in its device alone needs not be known whole: its ctime, which nobody can set, is the same.
  static func identity(
    of file: SourceFile, known: SourceIdentity, _ content: SentContent
  ) throws(Failure) -> SourceIdentity? {
    for _ in 0..<patience {
      let now = try file.currentIdentity()
      switch known.relation(to: now) {
      case .same: return now
      case .other: return nil
      case .moved: break
      }
      guard content.isCovered || known.ctimeNs == now.ctimeNs, try holds(file, content) else { return nil }
      if try file.currentIdentity() == now { return now }
    }
    return nil
  }

  private static func holds(_ file: SourceFile, _ content: SentContent) throws(Failure) -> Bool {
    for piece in content.pieces where try digest(of: file, piece.range, piece.digest.algorithm) != piece.digest {
      return false
    }
    return true
  }

  /// nil when the file ends before the range does.
  static func digest(
    of file: SourceFile, _ range: ByteRange, _ algorithm: DigestAlgorithm
  ) throws(Failure) -> Digest? {
    var running = RunningDigest(algorithm)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 4096)
    defer { buffer.deallocate() }
    var done: Int64 = 0
    while done < range.length {
      let wanted = Int(min(Int64(buffer.count), range.length - done))
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      let count = try file.read(into: part, at: range.offset + done)
      if count == 0 { return nil }
      running.update(UnsafeRawBufferPointer(rebasing: part[..<count]))
      done += Int64(count)
    }
    return running.finish()
  }
}
