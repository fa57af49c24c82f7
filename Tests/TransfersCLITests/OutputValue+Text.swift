import TransferReports

@testable import TransfersCLI

extension OutputValue {
  func text(_ style: TextStyle) -> String { TextReport.render(report, style) }
}
