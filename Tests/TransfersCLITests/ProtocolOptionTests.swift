import ArgumentParser
import Testing
import TransferModel
import Transfers

@testable import TransfersCLI

/// Options that the protocol definitions declare behave like all other command-line options.
@Suite struct ProtocolOptionTests {
  private func values(_ arguments: String...) throws -> [String: OptionValue] {
    try ProtocolOptions<UploadProtocols>.parse(arguments).values
  }

  @Test func eachKindIsRead() throws {
    #expect(try values().isEmpty)
    #expect(try values("--region", "eu", "--part-size=8M") == ["region": "eu", "part-size": 8_388_608])
    #expect(try values("--if-none-match", "--no-path-style") == ["if-none-match": true, "path-style": false])
    #expect(try values("--path-style") == ["path-style": true])
    #expect(try values("--field", "a=b", "--field", "c=d") == ["field": ["a=b", "c=d"]])
  }

  @Test(arguments: [["--part-size", "x"], ["--region"], ["--no-if-none-match"], ["--parallel=1"]])
  func whatCannotBeReadIsRefused(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try ProtocolOptions<UploadProtocols>.parse(arguments) }
  }

  @Test(arguments: ProtocolCatalog.options)
  func eachIsShownWithItsHelp(_ option: ProtocolOption) throws {
    for command in [AddCommand.self, PushCommand.self] as [any ParsableCommand.Type] {
      let shown = try #require(OptionList(of: command).option(long: option.long))
      #expect(shown.help == option.help)
      #expect(shown.isRepeatable == (option.kind == .list))
      #expect(shown.takesValue == ![.flag, .toggle].contains(option.kind))
    }
  }
}

extension ProtocolOption: CustomTestStringConvertible {
  public var testDescription: String { long }
}
