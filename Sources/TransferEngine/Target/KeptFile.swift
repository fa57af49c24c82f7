import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A local file whose expected content is known, from a done download or a manifest.
public struct KeptFile: Sendable {
  private let names: TargetNames

  /// - Parameters:
  ///   - path: absolute.
  ///   - root: the target folder of its batch.
  public init(_ path: NameBytes, below root: NameBytes) {
    names = TargetNames(path, below: root, UID(high: 0, low: 0))
  }

  /// Reads the file, from the disk as far as the kernel allows that, and compares it. Blocking.
  /// - Throws: if the target folder does not exist, or the file cannot be read: then nothing is known about the file.
  public func compare(with download: KeptDownload) throws(Failure) -> LocalFinding {
    try compare(size: download.size, digests: download.digests)
  }

  /// The same with a size (in bytes; nil if unknown) and digests of the whole file; without digests nothing is read.
  public func compare(size expected: Int64?, digests: [Digest]) throws(Failure) -> LocalFinding {
    guard let folder = try TargetFolder(of: names) else { return LocalFinding(.missing) }
    guard let file = try TargetFile(placed: names, in: folder) else { return LocalFinding(.missing) }
    let size = file.identity.size
    guard expected.map({ $0 == size }) ?? true else { return LocalFinding(.changed, size: size) }
    guard !digests.isEmpty else { return LocalFinding(.intact, size: size) }
    file.dropCache()
    let whole = ByteRange(offset: 0, length: size)
    let found = try file.digests(of: whole, Set(digests.map(\.algorithm)), .never)
    let differs = digests.contains { found[$0.algorithm] != $0 }
    let digest = digests.first.flatMap { found[$0.algorithm] }
    return LocalFinding(differs ? .changed : .intact, size: size, digest: digest)
  }
}
