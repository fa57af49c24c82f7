import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The result of files that were written out as they arrived.
package struct StreamResult: Sendable {
  package var files = 0
  package var bytes: Int64 = 0
  /// The proof of the last file.
  package var proof: FileProof?
  /// Why the transfer ended early.
  package var failure: StreamFailure?
}

package struct StreamFailure: Sendable {
  package enum Operation: String, Sendable { case fetch, write }
  package var operation: Operation
  /// The file that was fetched, or the output to which it was written.
  package var path: NameBytes
  package var failure: Failure
  /// Bytes of the file that had been written.
  package var written: Int64 = 0

  /// The reader of standard output has closed it. The error code is compared too, because a closed connection has the
  /// same `errno`.
  package var isClosedReader: Bool { failure.code == .localIO && failure.systemError == EPIPE }
}

/// Fetches files in order and writes them out immediately, to standard output or into an archive. They are not recorded
/// in a ledger.
package struct Streaming {
  private let spool: DownloadSpool
  private let settings: [DownloadOrigin: BatchSettings]
  private let rate: Int64?
  package var policy = RetryPolicy.standard

  /// - Parameter rate: bytes per second; nil for no limit.
  /// - Throws: `.usage`, `.badList`, `.noSource` and `.config`, like an `add` of the same files.
  package init(
    _ options: DownloadOptions, rate: Int64?, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) {
    let target = DownloadTarget(options)
    spool = try target.spool(isForLedger: false, ignoresCase: { false }, notice: notice)
    settings = try target.batches(spool.origins).mapValues(\.settings)
    self.rate = rate
    try refuseFolders()
  }

  /// Folders are refused: their files become known only while they are listed, which requires a ledger.
  private func refuseFolders() throws(TransferError) {
    _ = try spool.replay { page throws(TransferError) in
      guard let folder = page.first(where: { $0.url.isFolder }) else { return }
      throw TransferError(
        .usage, "write", NameBytes(folder.url.description),
        cause: "it is a folder, whose files are not known in advance",
        remedy: "name its files, or pull it into a folder")
    }
  }

  /// Writes the one file that is named to an open descriptor. Blocking.
  package func file(to descriptor: Int32) throws(TransferError) -> StreamResult {
    let output = DescriptorOutput(descriptor)
    return try each(to: Self.output) { entry, resolved in
      StreamedFile(
        resolved, key: entry.url.key, entry.expected, to: output, clock: SystemClock(), policy: policy)
    }
  }

  /// Writes all files as an archive to an open descriptor. Blocking.
  package func archive(to descriptor: Int32) throws(TransferError) -> StreamResult {
    try archive(to: DescriptorOutput(descriptor), named: Self.output)
  }

  private static let output = NameBytes("standard output")

  /// The same to a file, which gets its name when it is complete, and is durable on return. Blocking.
  package func archive(at path: NameBytes, overwrites: Bool) throws(TransferError) -> StreamResult {
    var result = StreamResult()
    let file: ArchiveFile
    do throws(Failure) { file = try ArchiveFile(path, overwrites: overwrites) } catch {
      result.failure = StreamFailure(operation: .write, path: path, failure: error)
      return result
    }
    // Does nothing once the file has its name.
    defer { file.discard() }
    result = try archive(to: file, named: path)
    guard result.failure == nil else { return result }
    do throws(Failure) { try file.place() } catch {
      result.failure = StreamFailure(operation: .write, path: path, failure: error)
    }
    return result
  }

  /// For an early end of the process: no archive leaves a partial file behind.
  package static func abandonArchives() { UnfinishedArchives.abandon() }

  private func archive(to output: any StreamOutput, named name: NameBytes) throws(TransferError) -> StreamResult {
    let tar = TarOutput(output, nowMs: SystemClock().wallMs)
    var result = try each(to: name) { entry, resolved in
      tar.open(entry.path, size: entry.expected.size)
      return StreamedFile(
        resolved, key: entry.url.key, entry.expected, to: tar, clock: SystemClock(), policy: policy)
    } then: { () throws(Failure) in
      try tar.close()
    }
    guard result.failure == nil else {
      // If this fails too, the first failure is reported.
      try? tar.breakOff()
      return result
    }
    do throws(Failure) { try tar.end() } catch {
      result.failure = StreamFailure(operation: .write, path: name, failure: error)
    }
    return result
  }

  private func each(
    to output: NameBytes, _ make: (DownloadEntry, ResolvedDestination) -> StreamedFile,
    then: () throws(Failure) -> Void = {}
  ) throws(TransferError) -> StreamResult {
    let destinations = CurlDestinations(connections: 1)
    defer { destinations.stop() }
    var (result, known): (StreamResult, [DownloadOrigin: ResolvedDestination]) = (StreamResult(), [:])
    _ = try spool.replay { page throws(TransferError) in
      for entry in page where result.failure == nil {
        let origin = entry.url.origin
        if known[origin] == nil { known[origin] = try destination(origin, destinations) }
        guard let resolved = known[origin] else { continue }
        result.take(make(entry, resolved), entry.path, to: output, then)
      }
    }
    return result
  }

  private func destination(
    _ origin: DownloadOrigin, _ destinations: CurlDestinations
  ) throws(TransferError) -> ResolvedDestination {
    guard let batch = settings[origin] else { preconditionFailure("a server without settings") }
    let resolved = try destinations.resolve(batch)
    resolved.transport.setRate(bytesPerSecond: rate)
    return resolved
  }
}

extension StreamResult {
  fileprivate mutating func take(
    _ file: StreamedFile, _ path: NameBytes, to output: NameBytes, _ then: () throws(Failure) -> Void
  ) {
    do throws(Failure) {
      let (size, proof) = try file.fetch()
      try then()
      files += 1
      (bytes, self.proof) = (bytes + size, proof)
    } catch {
      let isOfOutput = error.code == .localIO || error.code == .localDiskFull
      failure = StreamFailure(
        operation: isOfOutput ? .write : .fetch, path: isOfOutput ? output : path, failure: error, written: file.written
      )
    }
  }
}
