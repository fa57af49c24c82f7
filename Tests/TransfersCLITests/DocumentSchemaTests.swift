import FoundationEssentials
import Glibc
import Testing

@testable import TransfersCLI

/// The JSON Schemas that `store schema --json` prints, and documents that must match them.
@Suite struct DocumentSchemaTests {
  /// The document of `store schema --json`.
  private static func printed() throws -> String {
    let program = try BuiltProgram()
    let outcome = try program.run("store", "schema", "--json", "--store", try ReadingTests.shared.get().store)
    #expect(outcome.code == 0 && outcome.err.isEmpty, "\(outcome.err)")
    return outcome.out
  }

  /// By the names of their schemas.
  private static func schemas() throws -> [String: JSONTree] {
    guard case .object(let schemas)? = try tree(printed())["data"]?["documents"] else {
      throw SystemFailure("store schema --json has no documents")
    }
    return schemas
  }

  private static func tree(_ text: String) throws -> JSONTree {
    try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8))
  }

  /// A schema number promises its members: whatever changes here is a decision.
  @Test func theSchemasAreFrozen() throws {
    let lines = try Self.printed().replacing(#","transfers."#, with: ",\n\"transfers.")
    #expect(lines.split(separator: "\n").count == DocumentCatalog.shapes.count)
    try Golden.expect("store schema.json", lines, hiding: try ReadingTests.shared.get().store)
  }

  /// Every document of the goldens, which are the output of the commands.
  @Test func printedDocumentsMatchTheirSchemas() throws {
    let schemas = try Self.schemas()
    var used: Set<String> = []
    for (name, text) in try Self.goldens() {
      let document = try Self.tree(text)
      guard case .text(let schema)? = document["schema"], let wanted = schemas[schema] else {
        Issue.record("\(name) has no schema that is printed")
        continue
      }
      used.insert(schema)
      let faults = SchemaCheck.faults(document, wanted, "")
      #expect(faults.isEmpty, "\(name): \(faults)")
    }
    #expect(used.count > 25, "\(used.sorted())")
  }

  /// Name and text of each document; the masks of ``Golden`` are replaced by values of the same kind.
  private static func goldens() throws -> [(String, String)] {
    guard let directory = opendir(Golden.folder) else { throw SystemFailure("open \(Golden.folder)") }
    defer { closedir(directory) }
    var found: [(String, String)] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      // The columns of failure groups depend on --by, so no schema of theirs is printed.
      guard name.hasSuffix(".json.txt"), name != "store schema.json.txt", !name.hasPrefix("report failures --by") else {
        continue
      }
      let text = try readText("\(Golden.folder)/\(name)").replacing(
        "\"schema_version\":N", with: "\"schema_version\":1"
      )
      .replacing("\"NOW\"", with: "\"2025-11-20T10:00:00.000Z\"")
      // A golden of several commands has a line for each of them, after its prompt.
      let several = text.split(separator: "\n").filter { $0.hasPrefix("{\"data\":{") }.map(String.init)
      found += (text.hasPrefix("$ ") ? several : [text]).map { (name, $0) }
    }
    return found
  }

  /// The validator detects each kind of fault in a document of a real schema.
  @Test(arguments: [
    (#""files_left":0"#, #""files_left":"0""#, "/data/files_left: not"),
    (#""files_left":0"#, #""files_lost":0"#, "/data: files_left is missing"),
    (#""schema":"transfers.report.summary/"#, #""schema":"transfers.report.other/"#, "/schema: not"),
    (
      #""started_at":"2025-11-20T10:00:00.000Z""#, #""started_at":"2025-11-20 10:00""#, "/data/started_at: no date-time"
    ),
    (#""files":{"done":1"#, #""files":{"done":1.5"#, "/data/files/done: not"),
    (#""costs":["#, #""costs":[7,"#, "/data/costs/0: not"),
  ])
  func aFaultIsFound(_ right: String, _ wrong: String, _ fault: String) throws {
    let program = try BuiltProgram()
    let store = try ReadingTests.shared.get().store
    let text = try program.run("report", "summary", "--json", "--store", store).out
      .replacing(/"started_at":"[^"]*"/, with: #""started_at":"2025-11-20T10:00:00.000Z""#)
      .replacing(/"files_left":[0-9]+/, with: #""files_left":0"#)
    let name = try #require(text.firstMatch(of: /"schema":"([^"]*)"/)?.output.1)
    let schema = try #require(Self.schemas()[String(name)])
    #expect(SchemaCheck.faults(try Self.tree(text), schema, "").isEmpty)
    let changed = text.replacing(right, with: wrong)
    #expect(changed != text, "the document has no \(right)")
    let faults = SchemaCheck.faults(try Self.tree(changed), schema, "")
    #expect(faults.contains { $0.hasPrefix(fault) }, "\(faults)")
  }
}

/// The part of JSON Schema (draft 2020-12) that the printed schemas use; any other keyword is a fault.
private enum SchemaCheck {
  private static let known: Set<String> = [
    "$schema", "title", "description", "type", "const", "format", "required", "properties", "additionalProperties",
    "items",
  ]

  static func faults(_ value: JSONTree, _ schema: JSONTree, _ path: String) -> [String] {
    guard case .object(let rules) = schema else { return ["\(path): \(schema) is not a schema"] }
    var faults = rules.keys.filter { !known.contains($0) }.map { "\(path): unknown keyword \($0)" }
    if let types = rules["type"], !texts(types).contains(where: { isOf($0, value) }) {
      return faults + ["\(path): not \(texts(types))"]
    }
    if let wanted = rules["const"], wanted != value { faults.append("\(path): not \(wanted)") }
    if case .text(let text) = value, rules["format"] == .text("date-time"),
      text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) == nil
    {
      faults.append("\(path): no date-time")
    }
    if case .array(let elements) = value, let items = rules["items"] {
      for (index, element) in elements.enumerated() { faults += self.faults(element, items, "\(path)/\(index)") }
    }
    guard case .object(let members) = value else { return faults }
    for name in rules["required"].map(texts) ?? [] where members[name] == nil {
      faults.append("\(path): \(name) is missing")
    }
    for (name, member) in members {
      if let rule = rules["properties"]?[name] ?? rules["additionalProperties"] {
        faults += self.faults(member, rule, "\(path)/\(name)")
      }
    }
    return faults
  }

  private static func texts(_ value: JSONTree) -> [String] {
    switch value {
    case .text(let text): [text]
    case .array(let elements): elements.flatMap(texts)
    default: []
    }
  }

  private static func isOf(_ type: String, _ value: JSONTree) -> Bool {
    switch value {
    case .null: type == "null"
    case .flag: type == "boolean"
    case .integer: type == "integer" || type == "number"
    case .number: type == "number"
    case .text: type == "string"
    case .array: type == "array"
    case .object: type == "object"
    }
  }
}

extension JSONTree {
  fileprivate subscript(_ key: String) -> JSONTree? {
    if case .object(let members) = self { members[key] } else { nil }
  }
}
