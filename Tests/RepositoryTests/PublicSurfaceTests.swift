import Glibc
import Testing

/// What `import Transfers` shows to a program, name by name.
@Suite struct PublicSurfaceTests {
  private static let shown = ["Sources/Transfers", "Sources/TransferModel", "Sources/TransferReports"]

  /// A golden of all names: a new one is a decision. `RECORD_SNAPSHOTS=1` writes it again.
  @Test func thePublicNamesAreWrittenDown() throws {
    let names = PublicNames(under: Self.shown).declarations.map(\.name).sorted()
    let path = "Tests/Goldens/public_names.txt"
    if getenv("RECORD_SNAPSHOTS") != nil {
      let file = try #require(fopen("\(Repository.root)/\(path)", "w"))
      fputs(names.joined(separator: "\n") + "\n", file)
      fclose(file)
    }
    let kept = Repository.lines(path).map(String.init).filter { !$0.isEmpty }
    let (added, removed) = (Set(names).subtracting(kept), Set(kept).subtracting(names))
    #expect(added.isEmpty, "public, but not in \(path); `package` for what no public declaration of Transfers needs")
    #expect(removed.isEmpty, "in \(path), but not public")
    #expect(names.count > 300)
  }

  /// The model and the reports are shown as far as the declarations of `Transfers` need them.
  @Test func theModelShowsOnlyWhatTheLibraryNeeds() {
    let library = PublicNames(under: ["Sources/Transfers"]).declarations
    let model = PublicNames(under: Array(Self.shown.dropFirst())).declarations
    var (needed, waiting) = (Set<String>(), Self.words(library.map(\.text)))
    while !waiting.isEmpty {
      let types = model.filter { $0.isType && !Self.isNamed($0, needed) && Self.isNamed($0, waiting) }.map(\.name)
      needed.formUnion(waiting)
      waiting = Self.words(model.filter { types.contains($0.type) || types.contains($0.name) }.map(\.text))
        .subtracting(needed)
    }
    let superfluous = model.filter { $0.isType && !Self.isNamed($0, needed) }.map(\.name)
    #expect(superfluous == [], "no public declaration of Transfers leads to these types")
  }

  /// A public member of a type that is not public would be shown to nobody.
  @Test func membersAreAsVisibleAsTheirTypes() {
    let names = PublicNames(under: Self.shown)
    let orphans = names.declarations.filter { !$0.type.isEmpty && !names.types.contains($0.type) }.map(\.name)
    #expect(orphans == [])
  }

  /// A type is named by its own name, as in `FileRow` or `FileList.Separator`, or by a type inside of it.
  private static func isNamed(_ type: PublicNames.Declaration, _ words: Set<String>) -> Bool {
    words.contains(String(type.name.split(separator: ".").last ?? ""))
  }

  private static func words(_ texts: [String]) -> Set<String> {
    Set(texts.flatMap { $0.split { !$0.isLetter && !$0.isNumber }.map(String.init) })
  }
}
