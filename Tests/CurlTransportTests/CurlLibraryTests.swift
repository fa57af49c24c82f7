import Testing
import TransferModel

@testable import CurlTransport

/// The error when there is no libcurl, or an unsuitable one.
@Suite struct CurlLibraryTests {
  private func problem(_ name: String, oldest: UInt32 = 0) throws -> TransferError {
    try #require(throws: TransferError.self) { try CurlLibrary.check(named: name, oldest: oldest) }
  }

  #if os(Linux)
    private let libcurl = "libcurl.so.4"
    private let anotherLibrary = "libm.so.6"
  #else
    private let libcurl = "libcurl.4.dylib"
    private let anotherLibrary = "libsqlite3.dylib"
  #endif

  @Test func theOneOfTheSystemWillDo() throws {
    try CurlLibrary.check(named: libcurl)
  }

  @Test func aLibraryThatIsNotThereIsNamed() throws {
    let problem = try problem("libcurl-of-nobody.so.4")
    #expect(problem.kind == .config && problem.operation == "load libcurl")
    #expect(problem.subject == NameBytes("libcurl-of-nobody.so.4"))
    #expect(problem.cause.contains("libcurl-of-nobody.so.4"))
    #expect(problem.remedy.contains("libcurl4"))
  }

  @Test func aLibraryThatIsNotLibcurlIsRefused() throws {
    #expect(try problem(anotherLibrary).cause == "it has no function curl_easy_init")
  }

  @Test func aLibraryThatIsTooOldIsRefused() throws {
    let problem = try problem(libcurl, oldest: 0xFF0102)
    let version = try CurlLibrary.load().version
    #expect(problem.cause == "version \(version) is older than 255.1.2")
    #expect(problem.remedy.contains("libcurl 255.1.2 or newer"))
  }
}
