import Glibc
import Testing
import TransferModel
import TransferTestSupport

@testable import TransfersCLI

@Suite struct UnfinishedOutputTests {
  /// The signal arrived before the file was created: it must not be created after the thread that cleans up has run.
  @Test func nothingIsBegunOnceTheProcessEnds() async {
    await #expect(processExitsWith: .success) {
      var template = Array("\(temporaryRoot)/transfers-output-XXXXXX".utf8CString)
      let folder = String(cString: try #require(mkdtemp(&template)))
      OutputFile.abandonUnfinished()
      #expect(throws: CommandFailure.self) { try OutputFile(NameBytes(folder + "/out"), store: nil) }
      // A folder that is not empty cannot be removed.
      #expect(rmdir(folder) == 0)
    }
  }
}
