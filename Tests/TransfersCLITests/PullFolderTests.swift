import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// `pull s3://bucket/prefix/` and `pull dav+http://host/folder/`: files are fetched while the listing continues.
@Suite struct PullFolderTests {
  private let program: BuiltProgram
  private let server: ScriptedServer
  private let bucket: ScriptedBucket
  private var folder: String { program.folder.path + "/in" }
  private var store: String { program.folder.path + "/l.db" }
  private static let keys = (0..<10).map { "p/\($0 % 2)/k\($0)" }

  init() throws {
    program = try BuiltProgram()
    let objects = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, "text of \($0)") })
    let bucket = ScriptedBucket(objects)
    self.bucket = bucket
    server = try ScriptedServer { bucket.answer($0) }
    mkdir(program.folder.path + "/in", 0o700)
  }

  private var environment: [String: String] {
    ["AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "canary-pull-folder", "AWS_ENDPOINT_URL": server.url]
  }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try program.run((arguments + ["--store", store]).map { Array($0.utf8) }, environment: environment)
  }

  private func expectAll() throws {
    for (key, text) in bucket.state.withLock({ $0.objects }) {
      #expect(try readText(folder + "/" + key.dropFirst(2)) == text, "\(key)")
    }
    let check = try run("store", "check")
    #expect(check.code == 0, "\(check.out)")
  }

  @Test func eachPageAndEachObjectIsAskedForOnce() throws {
    bucket.state.withLock { $0.objects["q/other"] = "x" }
    let outcome = try run("pull", "s3://bucket/p/", folder)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.contains("10 done"), "\(outcome.out)")
    bucket.state.withLock { _ = $0.objects.removeValue(forKey: "q/other") }
    try expectAll()
    let state = bucket.state.withLock { $0 }
    #expect(state.pages == ["", "p/0/k4", "p/1/k1", "p/1/k7"])
    #expect(state.gets.sorted() == Self.keys.sorted())
    #expect(try names(in: folder) == ["0", "1"])
  }

  @Test func whatIsHereAndUnchangedIsNotFetchedAgain() throws {
    #expect(try run("pull", "s3://bucket/p/", folder).code == 0)
    bucket.state.withLock { $0.gets = [] }
    let again = try run("pull", "s3://bucket/p/", folder)
    #expect(again.code == 0, "\(again.err)")
    #expect(again.out.contains("0 done, 10 unchanged"), "\(again.out)")
    #expect(bucket.state.withLock { $0.gets }.isEmpty)
    bucket.state.withLock { state in
      state.objects["p/0/k2"] = "text of p/0/k2, changed"
      state.objects["p/new"] = "new"
    }
    unlink(folder + "/0/k4")
    #expect(try run("pull", "--overwrite", "s3://bucket/p/", folder).code == 0)
    #expect(bucket.state.withLock { $0.gets }.sorted() == ["p/0/k2", "p/0/k4", "p/new"])
    try expectAll()
  }

  /// The next run requests the third page again, and files that the first two pages named are not fetched twice.
  @Test func aKilledListingGoesOnAtItsLastPage() throws {
    bucket.state.withLock { $0.pagesLeft = 2 }
    let running = try program.start(
      ["pull", "s3://bucket/p/", folder, "--store", store], number: 1, environment: environment)
    try bucket.waitForSilence()
    running.signal(SIGKILL)
    _ = try running.wait()
    bucket.state.withLock { $0.pagesLeft = .max }
    let outcome = try run("run")
    #expect(outcome.code == 0, "\(outcome.err)")
    try expectAll()
    let state = bucket.state.withLock { $0 }
    #expect(state.pages == ["", "p/0/k4", "p/1/k1", "p/1/k1", "p/1/k7"])
    #expect(Set(state.gets) == Set(Self.keys))
  }

  /// Each name that leads out of the folder is refused on its own; the other files are fetched.
  @Test func hostileKeysAreRefusedOneByOne() throws {
    let long = String(repeating: "n", count: 300)
    let hostile = ["p/../up", "p/a//b", "p//abs", "p/./x", "p/\(long)"]
    bucket.state.withLock { state in
      state.objects = ["p/fine": "fine", "p/": "", "p/marker/": ""]
      for key in hostile { state.objects[key] = "hostile" }
    }
    let outcome = try run("pull", "s3://bucket/p/", folder)
    #expect(outcome.code == 3, "\(outcome.err)")
    #expect(outcome.out.contains("1 done, 5 failed"), "\(outcome.out)")
    #expect(try names(in: folder) == ["fine"])
    #expect(!(try names(in: program.folder.path)).contains("up"))
    #expect(bucket.state.withLock { $0.gets } == ["p/fine"])
    // A retry does not fetch them either.
    _ = try run("retry", "--state", "failed")
    _ = try run("run")
    #expect(try names(in: folder) == ["fine"])
    #expect(bucket.state.withLock { $0.gets } == ["p/fine"])
  }

  /// A file that failed in one pull stays in the batch of that pull, and counts for the next pull too.
  @Test func whatFailsAgainFailsTheNextPullToo() throws {
    bucket.state.withLock { $0.gone = ["p/1/k7"] }
    #expect(try run("pull", "s3://bucket/p/", folder).code == 3)
    let again = try run("pull", "s3://bucket/p/", folder)
    #expect(again.code == 3 && again.out.contains("0 done, 1 failed, 9 unchanged"), "\(again.out) \(again.err)")
    bucket.state.withLock { $0.gone = [] }
    let third = try run("pull", "s3://bucket/p/", folder)
    #expect(third.code == 0 && third.out.contains("1 done"), "\(third.out) \(third.err)")
    try expectAll()
  }

  /// The same holds for names that can never be fetched.
  @Test func whatIsRefusedAgainFailsTheNextPullToo() throws {
    bucket.state.withLock { $0.objects["p/../up"] = "hostile" }
    #expect(try run("pull", "s3://bucket/p/", folder).code == 3)
    let again = try run("pull", "s3://bucket/p/", folder)
    #expect(again.code == 3 && again.out.contains("0 done, 1 failed, 10 unchanged"), "\(again.out) \(again.err)")
    #expect(try run("store", "check").code == 0)
  }

  /// A subfolder whose listing failed is listed again in its first batch, and its files belong to that batch, too.
  @Test func filesOfAFolderThatIsListedElsewhereCount() throws {
    let isOpen = Lock(false)
    let dav = try ScriptedServer { request in
      guard request.method == "PROPFIND" else { return .init(status: 404) }
      guard request.target == "/c/" || isOpen.withLock({ $0 }) else { return .init(status: 403) }
      let names = request.target == "/c/" ? ["/c/", "/c/sub/"] : ["/c/sub/", "/c/sub/f"]
      let members = names.map { name in
        let type = name.hasSuffix("/") ? "<resourcetype><collection/></resourcetype>" : ""
        return "<response><href>\(name)</href><propstat><prop>\(type)</prop><status>HTTP/1.1 200 OK</status></propstat>"
          + "</response>"
      }
      return .init(status: 207, body: "<multistatus xmlns=\"DAV:\">\(members.joined())</multistatus>")
    }
    let url = dav.url.replacing("http://", with: "dav+http://") + "/c/"
    #expect(try run("pull", url, folder).code == 4)
    isOpen.withLock { $0 = true }
    let again = try run("pull", url, folder)
    #expect(again.code == 4 && again.out.contains("0 done, 1 failed"), "\(again.out) \(again.err)")
    #expect(again.err.contains("404"), "\(again.err)")
  }

  /// An object whose size differs from the listing is another version, which is just as acceptable.
  @Test func anObjectThatChangedSinceItWasListedIsFetched() throws {
    bucket.state.withLock { state in
      state.objects = ["p/o": "longer now"]
      state.listedSizes["p/o"] = 3
    }
    let outcome = try run("pull", "s3://bucket/p/", folder)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try readText(folder + "/o") == "longer now")
  }

  @Test func aListingThatFailsIsNoSuccess() throws {
    bucket.state.withLock { $0.refusal = 403 }
    let outcome = try run("pull", "s3://bucket/p/", folder)
    #expect(outcome.code == 4, "\(outcome.err)")
    #expect(outcome.err.contains("403"), "\(outcome.err)")
    bucket.state.withLock { $0.refusal = nil }
    #expect(try run("retry", "--all").code == 0)
    #expect(try run("run").code == 0)
    try expectAll()
    bucket.state.withLock { $0.pages = [] }
    #expect(try run("pull", "s3://bucket/none/", folder).code == 4)
    #expect(bucket.state.withLock { $0.pages } == [""])
  }

  @Test func aCancelledListingIsNotGoneOnWith() throws {
    #expect(try run("pull", "--no-run", "s3://bucket/p/", folder).code == 0)
    #expect(try run("cancel", "--all").code == 0)
    _ = try run("run")
    #expect(bucket.state.withLock { $0.pages }.isEmpty)
    #expect(try run("pull", "s3://bucket/p/", folder).code == 0)
    try expectAll()
  }

  @Test func collectionsOfWebDAVAreWalked() throws {
    let receiver = try RunningReceiver(in: program.folder)
    for name in ["c", "c/a b", "c/a b/deep", "c/empty", "other"] { mkdir(receiver.root + "/" + name, 0o700) }
    let files = ["c/one": "1", "c/a b/two%?#": "22", "c/a b/deep/ü": "333"]
    for (name, text) in files { try writeFile(receiver.root + "/" + name, Array(text.utf8)) }
    try writeFile(receiver.root + "/other/no", [0x78])
    let url = receiver.url.replacing("http://", with: "dav+http://") + "/c/"
    let outcome = try run("pull", url, folder)
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(outcome.out.contains("3 done"), "\(outcome.out)")
    for (name, text) in files { #expect(try readText(folder + "/" + name.dropFirst(2)) == text, "\(name)") }
    #expect(try names(in: folder) == ["a b", "one"])
    let again = try run("pull", url, folder)
    #expect(again.code == 0 && again.out.contains("0 done, 3 unchanged"), "\(again.out) \(again.err)")
    #expect(try run("pull", "--json", url, folder).out.contains("\"unchanged\":3"))
    #expect(try run("store", "check").code == 0)
  }
}
