import Testing
import TransferReports

@testable import TransfersCLI

@Suite struct DocumentCatalogTests {
  @Test func eachDocumentHasOneSchema() {
    let names = DocumentCatalog.shapes.map(\.schema)
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.hasPrefix("transfers.") && $0.contains("/") })
  }
}
