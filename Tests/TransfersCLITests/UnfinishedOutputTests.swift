import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

@Suite struct UnfinishedOutputTests {
  /// The signal came before the file was made: it must not be made behind the back of the thread that cleans up.
  @Test func nothingIsBegunOnceTheProcessEnds() async {
    await #expect(processExitsWith: .success) {
      var template = Array("\(temporaryRoot)/transfers-output-XXXXXX".utf8CString)
      let folder = String(cString: try #require(mkdtemp(&template)))
      OutputFile.abandonUnfinished()
      #expect(throws: CommandFailure.self) { try OutputFile(NameBytes(folder + "/out"), store: nil) }
      // A folder that holds something cannot be removed.
      #expect(rmdir(folder) == 0)
    }
  }
}
