import Glibc
import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// The last comparison before a source is deleted or moved, on real files.
@Suite struct SourceRemoverTests {
  private let folder: TemporaryFolder
  private let root: String
  private var source: String { root + "/in/x/a" }
  /// The folders as they were when the source was recorded.
  private let folders: [NameBytes: FolderIdentity]

  init() throws {
    folder = try TemporaryFolder()
    root = String(decoding: folder.path.bytes, as: UTF8.self)
    for name in ["/in", "/in/x", "/out"] { mkdir(root + name, 0o700) }
    let places = SourcePlaces(SourceRemoval(.delete, base: root + "/in"))
    folders = [
      NameBytes(root + "/in"): try #require(places.identity(of: NameBytes(""))),
      NameBytes(root + "/in/x"): try #require(places.identity(of: NameBytes("x"))),
    ]
    try write("sent", to: root + "/in/x/a")
  }

  private func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }

  private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private func due(_ confirmation: TransferModel.Confirmation = .digest, isBegun: Bool = false) throws -> DueRemoval {
    let identity = try SourceFile(path: NameBytes(source)).identity
    return DueRemoval(
      file: FileID(rawValue: 1), batch: BatchID(rawValue: 1), path: NameBytes(source), identity: identity,
      isBegun: isBegun, confirmation: confirmation, isByHand: false, isLost: false)
  }

  private func remover(
    _ action: SourceRemoval.Action, ready: String? = nil, proof: SourceRemoval.Proof = .size,
    folders: [NameBytes: FolderIdentity]? = nil, afterQuestion: @escaping () -> Void = {}
  ) throws -> SourceRemover {
    let removal = SourceRemoval(
      action, proof: proof, base: root + "/in", folder: action == .move ? root + "/out" : nil)
    return SourceRemover(
      removal: removal, marker: try ready.map { try ReadyMarker($0) }, places: SourcePlaces(removal),
      content: { _ in SentContent() }, folder: { [recorded = folders ?? self.folders] in recorded[$0] },
      isDue: { _ in
        afterQuestion()
        return true
      }, stop: .never)
  }

  @Test func whatWasSentIsDeleted() throws {
    #expect(try remover(.delete).remove(try due()) == .done)
    #expect(!isThere(source) && isThere(root + "/in/x"))
  }

  @Test func whatHasChangedIsKept() throws {
    let due = try due()
    try write("other", to: source)
    #expect(try remover(.delete).remove(due) == .kept(.sourceChanged, "it has changed since it was sent"))
    #expect(try remover(.move).remove(due) == .kept(.sourceChanged, "it has changed since it was sent"))
    #expect(isThere(source))
  }

  @Test func whatHasItsNameNowIsKept() throws {
    let due = try due()
    try write("sent", to: source + ".new")
    rename(source + ".new", source)
    #expect(try remover(.delete).remove(due) == .kept(.sourceChanged, "it has changed since it was sent"))
    unlink(source)
    symlink("/etc/passwd", source)
    #expect(try remover(.delete).remove(due) == .kept(.sourceKind, "it is no longer a regular file"))
  }

  /// The link was named beside other sources. One that nobody named is not followed.
  @Test(arguments: [SourceRemoval.Action.delete, .move])
  func aSourceBelowALinkThatWasNamedIsRemoved(_ action: SourceRemoval.Action) throws {
    for name in ["/big", "/big/y"] { mkdir(root + name, 0o700) }
    try write("sent", to: root + "/big/y/a")
    symlink(root + "/big", root + "/in/link")
    let path = NameBytes(root + "/in/link/y/a")
    var due = DueRemoval(
      file: FileID(rawValue: 1), batch: BatchID(rawValue: 1), path: path,
      identity: try SourceFile(path: path).identity, isBegun: false, confirmation: .digest, isByHand: false,
      isLost: false)
    #expect(
      try remover(action).remove(due)
        == .kept(.sourceKind, "a folder above it is a symbolic link now, which leads out of \(root)/in"))
    due.root = (root + "/in/link").utf8.count
    #expect(try remover(action).refusal(due) == nil)
    #expect(try remover(action).remove(due) == .done)
    #expect(!isThere(root + "/big/y/a") && isThere(root + "/big/y"))
    #expect(isThere(root + "/out/link/y/a") == (action == .move))
  }

  @Test func foldersBelowALinkThatWasNamedAreRecorded() throws {
    for name in ["/big", "/big/y"] { mkdir(root + name, 0o700) }
    symlink(root + "/big", root + "/in/link")
    var page = AdmissionPage()
    let identity = SourceIdentity(size: 1, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1)
    NameBytes(root + "/in/link/y/a").bytes.withUnsafeBytes {
      page.append(path: $0, key: $0, identity, mode: 0o600, root: (root + "/in/link").utf8.count)
    }
    let found = SourcePlaces(SourceRemoval(.delete, base: root + "/in")).folders(of: page)
    #expect(Set(found.keys) == Set(["/in", "/in/link", "/in/link/y"].map { NameBytes(root + $0) }))
  }

  @Test func itIsMovedWithItsFoldersAndNeverReplaces() throws {
    let due = try due()
    #expect(try remover(.move).remove(due) == .done)
    #expect(!isThere(source) && isThere(root + "/out/x/a"))
    try write("sent", to: source)
    guard case .kept(.policyExists, _) = try remover(.move).remove(try self.due()) else {
      Issue.record("it was not kept")
      return
    }
    #expect(isThere(source))
  }

  /// The message names what is in the way, below the folder that a person chose.
  @Test func whatIsInTheWayOfItsFolderIsNamed() throws {
    try write("", to: root + "/out/x")
    func failure() throws -> String {
      guard case .failed(_, let message) = try remover(.move).remove(try due()) else { return "no failure" }
      return message
    }
    #expect(try failure() == "cannot open the folder \(root)/out/x: not a directory")
    unlink(root + "/out/x")
    symlink(root + "/in", root + "/out/x")
    #expect(try failure() == "cannot open the folder \(root)/out/x: a symbolic link leads out of \(root)/out")
    #expect(isThere(source))
    unlink(root + "/out/x")
    symlink("y", root + "/out/x")
    symlink("x", root + "/out/y")
    #expect(try failure() == "cannot open the folder \(root)/out/x: too many levels of symbolic links")
    #expect(isThere(source))
  }

  /// Whether by its own name or through a link: the source is not mistaken for a file that an earlier try moved.
  @Test(arguments: ["/in", "/link"])
  func whatLiesWhereItGoesIsKept(_ folder: String) throws {
    symlink(root + "/in", root + "/link")
    let removal = SourceRemoval(.move, proof: .size, base: root + "/in", folder: root + folder)
    let remover = SourceRemover(
      removal: removal, marker: nil, places: SourcePlaces(removal), content: { _ in SentContent() },
      folder: { [folders] in folders[$0] }, isDue: { _ in true }, stop: .never)
    #expect(try remover.remove(try due()) == .kept(.policyExists, "it is already in the target folder"))
    #expect(try remover.remove(try due(isBegun: true)) == .kept(.policyExists, "it is already in the target folder"))
    #expect(isThere(source))
  }

  /// After a kill between the removal and its commit, the next run finds that the removal was done.
  @Test func whatAnEarlierTryDidIsRecognised() throws {
    let once = try due(isBegun: true)
    unlink(source)
    #expect(
      try remover(.delete).remove(once)
        == .gone("it was gone after an interrupted attempt: that attempt or somebody else deleted it"))
    try write("sent", to: source)
    let twice = try due(isBegun: true)
    #expect(try remover(.move).remove(twice) == .done)
    #expect(try remover(.move).remove(twice) == .done)
    unlink(root + "/out/x/a")
    #expect(try remover(.move).remove(twice) == .kept(.sourceMissing, "it was gone before it was moved"))
  }

  @Test func whatWasGoneBeforeIsNotSaidToBeRemoved() throws {
    let due = try due()
    unlink(source)
    #expect(try remover(.delete).remove(due) == .kept(.sourceMissing, "it was gone before it was removed"))
  }

  /// The folder of all sources does not exist.
  @Test(arguments: [true, false]) func nothingIsSaidOfAFolderThatIsNotThere(_ isBegun: Bool) throws {
    let due = try due(isBegun: isBegun)
    rename(root + "/in", root + "/away")
    guard case .putOff(.sourceMissing, _) = try remover(.delete).remove(due) else {
      Issue.record("the outcome is final")
      return
    }
  }

  /// Another file takes over the name after the last comparison of contents.
  @Test func aFileThatCameInBetweenStays() throws {
    for action in SourceRemoval.Action.allCases {
      try write("sent", to: source)
      let due = try due()
      try write("newer", to: source + ".new")
      let end = try remover(action, afterQuestion: { [source] in rename(source + ".new", source) }).remove(due)
      #expect(end == .kept(.sourceChanged, "it has changed since it was sent"))
      #expect(isThere(source))
    }
  }

  /// The removal was revoked, or another batch needs the source, during the comparison; or the run was told to stop.
  @Test(arguments: [true, false])
  func whatIsNotDueAnyMoreStays(_ isStopped: Bool) throws {
    for action in SourceRemoval.Action.allCases {
      let removal = SourceRemoval(action, base: root + "/in", folder: action == .move ? root + "/out" : nil)
      let remover = SourceRemover(
        removal: removal, marker: nil, places: SourcePlaces(removal), content: { _ in SentContent() },
        folder: { [folders] in folders[$0] }, isDue: { _ in isStopped }, stop: ReadStop { isStopped })
      guard case .putOff = try remover.remove(try due()) else {
        Issue.record("it was not put off")
        continue
      }
      #expect(isThere(source))
    }
  }

  /// An unavailable folder, or a disk that is full or read-only, says nothing about the source, no matter how often.
  @Test func whatCannotBeTriedIsPutOff() throws {
    let due = try due()
    for code in [EBUSY, EROFS, ENOSPC, EMFILE, ESTALE, ENOTCONN] {
      guard case .putOff = RemovalEnd(SourcePlaces.failure("delete it", code)) else {
        Issue.record("\(code) counts as a failure")
        continue
      }
    }
    for code in [EACCES, EPERM, EIO, EISDIR] {
      guard case .failed = RemovalEnd(SourcePlaces.failure("delete it", code)) else {
        Issue.record("\(code) does not count as a failure")
        continue
      }
    }
    rename(root + "/in", root + "/away")
    for action in SourceRemoval.Action.allCases {
      for end in [try remover(action).refusal(due), try remover(action).remove(due)] {
        guard case .putOff(.sourceMissing, _) = end else {
          Issue.record("\(String(describing: end))")
          continue
        }
      }
    }
    rename(root + "/away", root + "/in")
    #expect(try remover(.delete).refusal(due) == nil)
  }

  /// A run with nothing else to do can wait for a folder, but not for room in the target folder.
  @Test func anErrorThatTheFolderDoesNotExplainIsDelayed() throws {
    let places = try remover(.move).places
    defer { places.release() }
    let (name, opened) = (NameBytes("a"), places.folder(of: NameBytes("x/a")))
    let full = RemovalEnd.putOff(.localDiskFull, "no space")
    #expect(SourceRemover.located(full, name, in: opened) == .delayed(.localDiskFull, "no space"))
    for other in [RemovalEnd.putOff(.engineInterrupted, ""), .putOff(.policyDestination, ""), .failed(.localIO, "")] {
      #expect(SourceRemover.located(other, name, in: opened) == other)
    }
    unlink(source)
    #expect(SourceRemover.located(full, name, in: opened) == full)
  }

  @Test func whatAMoveKeptIsNotDeleted() throws {
    var due = try due()
    due.keptMove = .policyExists
    guard case .kept(.policyExists, _) = try remover(.delete).refusal(due) else {
      Issue.record("it was not kept")
      return
    }
  }

  @Test func theWordOfAPersonRemovesNothing() throws {
    var due = try due(.none)
    #expect(try remover(.delete, proof: .any).refusal(due) == nil)
    due.isByHand = true
    guard case .kept(.policyProof, _)? = try remover(.delete, proof: .any).refusal(due) else {
      Issue.record("it was not kept")
      return
    }
  }

  /// The person named the link; others may need its target.
  @Test func aLinkThatWasNamedStaysWithItsTarget() throws {
    let due = try due()
    rename(source, root + "/in/x/target")
    symlink("target", source)
    #expect(try remover(.delete).remove(due) == .kept(.sourceKind, "it is no longer a regular file"))
    #expect(isThere(root + "/in/x/target") && isThere(source))
  }

  @Test func theMarkerGoesWithItsSource() throws {
    try write("", to: source + ".done")
    #expect(try remover(.delete, ready: "{path}.done").remove(try due()) == .done)
    #expect(!isThere(source + ".done"))
  }

  /// A marker that has content, one that other sources may share, and one whose name is taken in the target folder.
  @Test func markersThatMayBeWantedStay() throws {
    try write("meta", to: source + ".xml")
    #expect(try remover(.delete, ready: "{path}.xml").remove(try due()) == .done)
    #expect(isThere(source + ".xml"))
    try write("sent", to: source + ".bam")
    try write("", to: source + ".ready")
    let path = NameBytes(source + ".bam")
    var stem = try DueRemoval(
      file: FileID(rawValue: 1), batch: BatchID(rawValue: 1), path: path, identity: SourceFile(path: path).identity,
      isBegun: false, confirmation: .digest, isByHand: false, isLost: false)
    #expect(try remover(.delete, ready: "{dir}/{stem}.ready").remove(stem) == .done)
    #expect(isThere(source + ".ready"))
    try write("sent", to: source + ".bam")
    try write("", to: source + ".bam.ok")
    mkdir(root + "/out/x", 0o700)
    try write("older", to: root + "/out/x/a.bam.ok")
    stem.identity = try SourceFile(path: path).identity
    #expect(try remover(.move, ready: "{path}.ok").remove(stem) == .done)
    #expect(isThere(source + ".bam.ok"))
  }

  @Test func aMarkerOfAFolderGoesWithTheLastSource() throws {
    let marker = root + "/in/x/.done"
    try write("", to: marker)
    try write("b", to: root + "/in/x/b")
    #expect(try remover(.delete, ready: "{dir}/.done").remove(try due()) == .done)
    #expect(isThere(marker))
    unlink(root + "/in/x/b")
    try write("sent", to: source)
    #expect(try remover(.delete, ready: "{dir}/.done").remove(try due()) == .done)
    #expect(!isThere(marker))
  }

  @Test(arguments: [
    (SourceRemoval.Proof.any, TransferModel.Confirmation.none, true), (.size, .none, false), (.size, .size, true),
    (.digest, .size, false), (.digest, .etag, true), (.size, .digest, true),
  ])
  func weakProofKeepsTheSource(
    _ asked: SourceRemoval.Proof, _ found: TransferModel.Confirmation, _ isEnough: Bool
  ) throws {
    let refusal = try remover(.delete, proof: asked).refusal(try due(found))
    #expect((refusal == nil) == isEnough)
  }

  @Test func whatALinkLedToIsKept() throws {
    var other = try due()
    other.path = NameBytes("/etc/hostname")
    guard case .kept(.sourceKind, _)? = try remover(.delete).refusal(other) else {
      Issue.record("it was not kept")
      return
    }
  }

  /// It stays, also after an attempt that was interrupted. What is gone waits for nothing.
  @Test(arguments: [true, false]) func whatLacksADestinationIsPutOff(_ isBegun: Bool) throws {
    var due = try due(isBegun: isBegun)
    due.lacking = "put:two"
    #expect(
      try remover(.delete).refusal(due)
        == .putOff(.policyDestination, "a destination does not have it: put:two"))
    #expect(isThere(source))
    for gone in [source, root + "/in/x"] {
      remove(gone)
      let end = try remover(.delete).refusal(due)
      let isEnded =
        switch end {
        case .gone: isBegun
        case .kept(.sourceMissing, _): !isBegun
        default: false
        }
      #expect(isEnded, "\(gone): \(String(describing: end))")
    }
  }
}
