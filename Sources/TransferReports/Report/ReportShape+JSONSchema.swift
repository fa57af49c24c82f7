/// The JSON Schema of a document (draft 2020-12), as a document. Every figure may be unknown (`null`). Members may be
/// added within a schema number, so additional members are allowed.
extension ReportShape {
  package var jsonSchema: FigureTree {
    let string = Self.object([("type", .text("string"))])
    var members: [(String, FigureTree)] = [
      ("schema", Self.object([("const", .text(schema))])),
      ("generated_at", Self.schema(of: .time, isNullable: false)),
      (
        "store",
        Self.record(
          ["path", "uid"].map { SectionShape(FigureHeading($0, nil, .text)) }
            + [SectionShape(FigureHeading("schema_version", nil, .integer))], isNullable: false)
      ),
      ("filters", Self.object([("type", .text("object"))])),
      ("data", isRows ? Self.rows(sections) : Self.record(sections.flatMap(\.members), isNullable: false)),
    ]
    let required = members.map(\.0)
    members.append(("type", string))
    members.append(("checks", Self.object([("type", .text("array"))])))
    members.append(("passed", Self.object([("type", .text("boolean"))])))
    if isRows { members.append(("summary", Self.object([("type", .text("object"))]))) }
    return .object([
      FigureTree.Member("$schema", .figure(.text("https://json-schema.org/draft/2020-12/schema"))),
      FigureTree.Member("title", .figure(.text(schema))),
      FigureTree.Member("type", .figure(.text("object"))),
      FigureTree.Member("required", .figure(.list(required))),
      FigureTree.Member("properties", .object(members.map { FigureTree.Member($0.0, $0.1) })),
    ])
  }

  private static func schema(_ shape: SectionShape.Content) -> FigureTree {
    switch shape {
    case .figure(let kind): schema(of: kind, isNullable: true)
    case .object(let members): record(members.flatMap(\.members), isNullable: true)
    case .rows(let columns): rows(columns)
    case .any: .object([])
    }
  }

  private static func rows(_ columns: [SectionShape]) -> FigureTree {
    .object([
      FigureTree.Member("type", .figure(.text("array"))),
      FigureTree.Member("items", record(columns, isNullable: false)),
    ])
  }

  private static func record(_ members: [SectionShape], isNullable: Bool) -> FigureTree {
    let named = members.compactMap { member in member.key.map { ($0, member.content) } }
    let bytes = named.filter { $0.1 == .figure(.name) }.map { ($0.0 + "_b64", object([("type", .text("string"))])) }
    return .object([
      FigureTree.Member("type", .figure(isNullable ? .list(["object", "null"]) : .text("object"))),
      FigureTree.Member("required", .figure(.list(named.map(\.0).sorted()))),
      FigureTree.Member(
        "properties", .object((named.map { ($0.0, schema($0.1)) } + bytes).map { FigureTree.Member($0.0, $0.1) })),
    ])
  }

  private static func schema(of kind: FigureKind, isNullable: Bool) -> FigureTree {
    let (type, extra): (String, [(String, Cell)]) =
      switch kind {
      case .text, .name: ("string", [])
      case .integer: ("integer", [])
      case .real: ("number", [])
      case .flag: ("boolean", [])
      case .bytes: ("integer", [("description", .text("bytes"))])
      case .duration: ("integer", [("description", .text("milliseconds"))])
      case .rate: ("integer", [("description", .text("bytes a second"))])
      case .time: ("string", [("format", .text("date-time"))])
      case .texts, .counts: ("object", [])
      case .list: ("array", [])
      }
    var members: [FigureTree.Member] = [
      FigureTree.Member("type", .figure(isNullable ? .list([type, "null"]) : .text(type)))
    ]
    members += extra.map { FigureTree.Member($0.0, .figure($0.1)) }
    switch kind {
    case .texts: members.append(FigureTree.Member("additionalProperties", object([("type", .text("string"))])))
    case .counts: members.append(FigureTree.Member("additionalProperties", object([("type", .text("integer"))])))
    case .list: members.append(FigureTree.Member("items", object([("type", .text("string"))])))
    default: break
    }
    return .object(members)
  }

  private static func object(_ members: [(String, Cell)]) -> FigureTree {
    .object(members.map { FigureTree.Member($0.0, .figure($0.1)) })
  }
}
