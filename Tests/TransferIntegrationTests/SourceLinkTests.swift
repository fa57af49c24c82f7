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

  /// The folder itself that was added may be, or become, a link.
  @Test func theNamedFolderMayBeALink() throws {
    try add("", "/up/")
    rename("\(scene.root)/source", "\(scene.root)/moved")
    symlink("\(scene.root)/moved", "\(scene.root)/source")
    #expect(try scene.run().done == 1)
    #expect(try scene.kept("up/d/file.bin")?.count == 200_000)
  }
}
