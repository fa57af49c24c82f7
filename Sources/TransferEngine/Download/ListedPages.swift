import CSys
import TransferLedger
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A page of a listing while a preparing thread checks which of its files exist locally and which names are impossible.
/// The protocol cannot know that, and the transaction that records the page must not wait for a disk.
struct ListedPages: Sendable {
  let request: RequestNumbers.Number
  let meaning: Interpretation
  let reply: TransferReply
  private let page: ListedPage
  private let listing: FileID
  /// The local path of the listed folder.
  private let base: NameBytes
  private let settings: DownloadSettings
  private let receiving: any BodiesInAnswers
  /// Whether names that differ only in case are the same file in a folder.
  private let ignoresCase: @Sendable (NameBytes) -> Bool

  /// nil if the answer is not a page.
  init?(
    _ request: RequestNumbers.Number, _ meaning: Interpretation, _ reply: TransferReply, _ work: FileWork,
    ignoresCase: @escaping @Sendable (NameBytes) -> Bool
  ) {
    guard case .listed(let page) = meaning.outcome, let settings = work.destination.refusals.settings.download,
      let receiving = work.destination.resolved.transferProtocol.bodiesInAnswers
    else { return nil }
    (self.request, self.meaning, self.reply, self.page, self.settings) = (request, meaning, reply, page, settings)
    (self.receiving, self.ignoresCase) = (receiving, ignoresCase)
    (listing, base) = (work.machine.claimed.id, work.machine.claimed.path)
  }

  /// The same page with an outcome for each object. Blocking.
  func examined(_ ledger: Ledger) -> Result<Interpretation, TransferError> {
    Result { () throws(TransferError) in
      let fetched = try ledger.read { [page, listing] reader in
        try reader.fetched(page.objects.filter { !$0.key.isFolder }.map(\.key), like: listing)
      }
      var judged = page
      for index in judged.objects.indices where judged.objects[index].outcome == .wanted {
        judged.objects[index].outcome = outcome(judged.objects[index], fetched[judged.objects[index].key])
      }
      if ignoresCase(settings.folder) { try refuseSameNames(&judged.objects, ledger) }
      return meaning.with(.listed(judged))
    }
  }

  private func outcome(_ object: ListedObject, _ fetched: FetchedObject?) -> ListedObject.Outcome {
    let path = NameBytes(base.bytes + object.path.bytes)
    let name = object.key.isFolder ? NameBytes(Array(path.bytes.dropLast())) : path
    if let fault = TargetNames.fault(in: name, below: settings.folder) {
      return .refused(Failure(.sourceName, "no local file can have its name, \(fault)"))
    }
    guard let fetched, fetched.path == path else { return .wanted }
    var status = csys_file_status()
    guard path.withCString({ csys_status_at(AT_FDCWD, $0, 0, &status) }) == 0 else { return .wanted }
    guard settings.overwrites else { return .unchanged }
    let isSame = fetched.size == object.size ?? fetched.size && receiving.isSame(object.etag, as: fetched.notes)
    return isSame && Int64(status.size) == fetched.size ? .unchanged : .wanted
  }

  /// If the target folder cannot distinguish several names, only the first is fetched. This function detects such names
  /// within a page and among finished downloads; the transaction that records the pages detects them across pages.
  private func refuseSameNames(_ objects: inout [ListedObject], _ ledger: Ledger) throws(TransferError) {
    var first: [NameBytes: NameBytes] = [:]
    for index in objects.indices where !objects[index].key.isFolder {
      let object = objects[index]
      if case .refused = object.outcome { continue }
      let (path, folded) = (NameBytes(base.bytes + object.path.bytes), folded(object.path))
      objects[index].folded = folded
      if let other = first[folded] {
        guard object.outcome == .wanted else { continue }
        let text = "the file system of the target folder does not distinguish its name from \"\(other.embedded)\""
        objects[index].outcome = .refused(Failure(.policyExists, text))
      } else {
        let file = NewDownload(path: path, key: object.key, folded: folded)
        if object.outcome == .wanted, let other = try ledger.read({ try $0.otherCase(of: file) }),
          Self.isThere(other.path)
        {
          objects[index].outcome = .refused(Failure(.policyExists, other.conflict))
        } else {
          first[folded] = object.path
        }
      }
    }
  }

  /// Folds only the part below the target folder: the folders above it may distinguish case.
  private func folded(_ path: NameBytes) -> NameBytes {
    let root = settings.folder.bytes
    let below = base.bytes.starts(with: root) ? base.bytes.dropFirst(root.count) : base.bytes[...]
    return NameBytes(base.bytes.prefix(base.bytes.count - below.count) + NameBytes(below + path.bytes).caseFolded.bytes)
  }

  private static func isThere(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return path.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0
  }
}

extension ListedFiles {
  /// - Parameter base: the path of a listing, which ends with a slash.
  init(_ page: ListedPage, below base: NameBytes) {
    self.init()
    for object in page.objects {
      let file = NewDownload(
        path: NameBytes(base.bytes + object.path.bytes), key: object.key,
        expected: ExpectedContent(listed: object.size), folded: object.folded)
      switch object.outcome {
      case .wanted: files.append(file)
      case .unchanged: unchanged += object.key.isFolder ? 0 : 1
      case .refused(let failure): refused.append(Refused(file, failure))
      }
    }
  }
}
