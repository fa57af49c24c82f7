import FoundationEssentials
import TransferModel

extension LedgerTransaction {
  /// Names and values in stored form: a JSON object, NULL for none.
  func json(_ values: [String: String]) throws -> SQLValue {
    values.isEmpty ? .null : .text(try jsonText(values))
  }

  func values(_ text: String?) -> [String: String] { storedValues(text) }
}

/// JSON with sorted keys, so that equal values are equal text.
func jsonText(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// The expected content of a download in stored form: NULL if nothing is known.
func storedExpectation(_ expected: ExpectedContent) throws -> SQLValue {
  expected.isEmpty ? .null : .text(try jsonText(expected))
}

/// What is expected of an upload that was compared with a list or a plan, in the same form.
func storedComparison(ofSize size: Int64) -> String { "{\"size\":\(size)}" }

func storedExpectation(_ text: String?) -> ExpectedContent {
  guard let text else { return ExpectedContent() }
  return (try? JSONDecoder().decode(ExpectedContent.self, from: Data(text.utf8))) ?? ExpectedContent()
}

/// The properties that rules set for an object, in stored form: NULL for none.
func storedProperties(_ properties: ObjectProperties) throws -> SQLValue {
  properties.isEmpty ? .null : .text(try jsonText(properties.values))
}

func storedProperties(_ text: String?) -> ObjectProperties { ObjectProperties(storedValues(text)) }

/// Reads an array of objects that ``jsonText(_:)`` wrote.
func storedLists(_ text: String?) -> [[String: String]] {
  guard let text else { return [] }
  return (try? JSONDecoder().decode([[String: String]].self, from: Data(text.utf8))) ?? []
}

/// Reads an object that ``jsonText(_:)`` wrote; only this program writes it.
func storedValues(_ text: String?) -> [String: String] {
  guard let text else { return [:] }
  return (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
}
