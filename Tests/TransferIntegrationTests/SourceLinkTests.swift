import Testing
import TransferModel
import Transfers

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Whoever may write to a folder of the sources can replace a folder in it by a symbolic link. Nothing from elsewhere
/// is sent because of that.
@Suite struct SourceLinkTests {
  private let scene: Scene
  private static let secret = [UInt8](repeating: 2, count: 150_000)

  init() throws {
    scene = try Scene()
    for name in ["source/d", "secret"] { mkdir("\(scene.root)/\(name)", 0o700) }
    try Scene.write([UInt8](repeating: 1, count: 200_000), to: NameBytes("\(scene.root)/source/d/file.bin"))
    try Scene.write(Self.secret, to: NameBytes("\(scene.root)/secret/file.bin"))
  }

  /// Puts a link to a folder with a file of the same name where the folder of the source was.
  private static func replace(_ root: String) {
    rename("\(root)/source/d", "\(root)/past")
    symlink("\(root)/secret", "\(root)/source/d")
  }

  private func add(_ scheme: String, _ path: String) throws {
    let settings = BatchSettings(destination: "\(scheme)\(scene.url)\(path)")
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
  }

  private func expectRefused(_ result: RunResult) throws {
    #expect(result.done == 0 && result.failed == 1 && result.left == 0, "\(result)")
    #expect(try scene.fileRows().map(\.cause) == [ErrorCode.sourceKind.rawValue])
    for path in ["up/d/file.bin", "tus/d/file.bin"] { #expect(try scene.kept(path) != Self.secret) }
    #expect(try scene.commits().isEmpty)
  }

  static let destinations = [("", "/up/"), ("tus+", "/-/tus/"), ("post+", "/up/")]

  @Test(arguments: destinations) func aFolderThatBecameALinkBeforeTheRun(_ scheme: String, _ path: String) throws {
    try add(scheme, path)
    Self.replace(scene.root)
    try expectRefused(try scene.run())
  }

  @Test(arguments: destinations) func aFolderThatBecomesALinkBeforeABody(_ scheme: String, _ path: String) throws {
    try add(scheme, path)
    let root = scene.root
    let isChanged = Lock(false)
    let result = try scene.work(
      with: Interposed(beforeBody: {
        let isFirst = isChanged.withLock { changed in
          defer { changed = true }
          return !changed
        }
        if isFirst { Self.replace(root) }
      }))
    try expectRefused(result)
  }

  private func add(_ sources: [String], list: String? = nil, follows: Bool = false) throws -> AddResult {
    var options = UploadOptions(settings: BatchSettings(destination: scene.url + "/up/"))
    options.followSymlinks = follows
    if let list {
      try Scene.write(Array(list.utf8), to: NameBytes("\(scene.root)/list"))
      options.list = FileList(path: NameBytes("\(scene.root)/list"), separator: .newline)
      options.base = NameBytes("\(scene.root)/source")
    }
    return try TransferStore(at: scene.storePath).add(
      sources.map { NameBytes("\(scene.root)/\($0)") }, options, notice: { _ in })
  }

  private func link(_ name: String, to target: String) {
    unlink("\(scene.root)/\(name)")
    #expect(symlink("\(scene.root)/\(target)", "\(scene.root)/\(name)") == 0)
  }

  /// What a link led to when it was added is sent, wherever it leads by then.
  @Test(arguments: ["source/link", "source/linked.bin", "named.bin"])
  func aLinkThatLeadsElsewhereBeforeTheRun(_ name: String) throws {
    let isFile = name.hasSuffix(".bin")
    mkdir("\(scene.root)/a folder with a long name", 0o700)
    rename("\(scene.root)/source/d", "\(scene.root)/a folder with a long name/d")
    link(name, to: "a folder with a long name/d" + (isFile ? "/file.bin" : ""))
    _ = try add([isFile && name == "named.bin" ? name : "source"], follows: name != "named.bin")
    link(name, to: "secret" + (isFile ? "/file.bin" : ""))
    #expect(try scene.run().done == 1)
    let key = name == "named.bin" ? "named.bin" : isFile ? "linked.bin" : "link/file.bin"
    #expect(try scene.kept("up/\(key)")?.count == 200_000)
    // The next scan sees the new target.
    #expect(
      try add([isFile && name == "named.bin" ? name : "source"], follows: name != "named.bin").counts.changed == 1)
  }

  /// Who follows links follows those that were there.
  @Test func aFolderThatBecameALinkThoughLinksAreFollowed() throws {
    _ = try add(["source"], follows: true)
    Self.replace(scene.root)
    try expectRefused(try scene.run())
  }

  @Test func aFolderOfALineThatBecameALink() throws {
    _ = try add([], list: "d/file.bin\n")
    Self.replace(scene.root)
    try expectRefused(try scene.run())
  }

  /// The line names the link, and not what is below it.
  @Test func aLineThatLeadsThroughALink() throws {
    rename("\(scene.root)/source", "\(scene.root)/moved")
    mkdir("\(scene.root)/source", 0o700)
    link("source/link", to: "moved")
    _ = try add([], list: "link/d/file.bin\n")
    #expect(try scene.run().done == 1)
    #expect(try scene.kept("up/link/d/file.bin")?.count == 200_000)
    try Scene.write([1], to: NameBytes("\(scene.root)/moved/d/file.bin"))
    _ = try add([], list: "link/d/file.bin\n")
    rename("\(scene.root)/moved/d", "\(scene.root)/past")
    #expect(symlink("\(scene.root)/secret", "\(scene.root)/moved/d") == 0)
    #expect(try scene.run().failed == 1)
    #expect(try scene.kept("up/link/d/file.bin")?.count == 200_000)
  }

  /// The folder itself that was added may be, or become, a link.
  @Test func theNamedFolderMayBeALink() throws {
    try add("", "/up/")
    rename("\(scene.root)/source", "\(scene.root)/moved")
    symlink("\(scene.root)/moved", "\(scene.root)/source")
    #expect(try scene.run().done == 1)
    #expect(try scene.kept("up/d/file.bin")?.count == 200_000)
  }
}
