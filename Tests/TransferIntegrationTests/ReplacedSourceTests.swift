import Testing
import TransferModel
import Transfers

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Careful programs do not write to a file: they write another one and rename it over the file. The open file keeps its
/// content then, and only its name tells that there is a newer one.
@Suite struct ReplacedSourceTests {
  enum Way: CaseIterable, Sendable { case file, link, folder }

  /// Of the protocols, those whose last request is a body.
  static let subjects = ["put", "dav", "post", "form", "tus", "resumable, one request"]
  private static let old = [UInt8](repeating: 1, count: 200_000)
  private static let new = [UInt8](repeating: 2, count: 150_000)

  /// Puts the new content where the old one is.
  private static func replace(_ root: String, _ way: Way) {
    switch way {
    case .file: rename("\(root)/next/file.bin", "\(root)/source/file.bin")
    case .link:
      symlink("\(root)/next/file.bin", "\(root)/link")
      rename("\(root)/link", "\(root)/source/file.bin")
    case .folder:
      rename("\(root)/source", "\(root)/past")
      rename("\(root)/next", "\(root)/source")
    }
  }

  private func scene() throws -> Scene {
    let scene = try Scene()
    mkdir("\(scene.root)/next", 0o700)
    try Scene.write(Self.old, to: NameBytes("\(scene.root)/source/file.bin"))
    try Scene.write(Self.new, to: NameBytes("\(scene.root)/next/file.bin"))
    return scene
  }

  /// Adds the source; the body of its request is all of it.
  private func add(_ scene: Scene, _ name: String) throws -> ConformanceSubject {
    let subject = try ConformanceSubject.named(name)
    var settings = BatchSettings(destination: "\(subject.scheme)\(scene.url)\(subject.path)")
    subject.adjust(&settings)
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    return subject
  }

  /// Runs with `change` before the first body of a source that is sent, which has its open file by then.
  private func work(_ scene: Scene, _ change: @escaping @Sendable () -> Void) throws -> RunResult {
    let isChanged = Lock(false)
    let resolver = Interposed(beforeBody: {
      let isFirst = isChanged.withLock { changed in
        defer { changed = true }
        return !changed
      }
      if isFirst { change() }
    })
    return try scene.work(with: resolver)
  }

  @Test(arguments: subjects, [Way.file, .folder]) func theNewFileIsSent(_ name: String, _ way: Way) throws {
    let scene = try scene()
    let subject = try add(scene, name)
    let root = scene.root
    let result = try work(scene) { Self.replace(root, way) }
    #expect(result.done == 1 && result.failed == 0 && result.left == 0, "\(result)")
    #expect(try scene.kept(subject.keptIn + "file.bin") == Self.new)
  }

  /// A link is no source, so there is nothing to send in its place.
  @Test(arguments: ["put", "tus"]) func aFileThatALinkReplacesFails(_ name: String) throws {
    let scene = try scene()
    let subject = try add(scene, name)
    let root = scene.root
    let result = try work(scene) { Self.replace(root, .link) }
    #expect(result.done == 0 && result.failed == 1, "\(result)")
    #expect(try scene.fileRows().first?.cause == ErrorCode.sourceKind.rawValue)
    #expect(try scene.kept(subject.keptIn + "file.bin") != Self.old)
  }

  /// What was sent is all of a file that has no newer version; so is a file with another link, owner or mode.
  @Test(arguments: ["remove", "link", "mode"]) func whatHasNoNewerVersionIsSent(_ change: String) throws {
    let scene = try scene()
    let subject = try add(scene, "put")
    let path = "\(scene.root)/source/file.bin"
    let result = try work(scene) {
      switch change {
      case "remove": unlink(path)
      case "link": link(path, path + ".link")
      default: chmod(path, 0o640)
      }
    }
    #expect(result.done == 1, "\(result)")
    #expect(try scene.kept(subject.keptIn + "file.bin") == Self.old)
  }
}
