/// The shape of a report, and how a value fills it. The JSON Schema is printed from the shape, so that a document
/// cannot have a member that its schema does not name.
package struct ReportForm<Value>: Sendable {
  package let schema: String
  package let sections: [SectionForm<Value>]
  /// The key of the table that formats with fixed columns print.
  let rows: String?

  package init(_ schema: String, rows: String? = nil, _ sections: [SectionForm<Value>]) {
    (self.schema, self.rows, self.sections) = (schema, rows, sections)
  }

  package func report(_ value: Value) -> Report {
    Report(schema, sections.flatMap { $0.fill(value) }, rows: rows)
  }

  package var shape: ReportShape { ReportShape(schema: schema, sections: sections.map(\.shape), isRows: false) }
}

/// The shape of one section, and how a value fills it.
package struct SectionForm<Value>: Sendable {
  let shape: SectionShape
  let fill: @Sendable (Value) -> [ReportSection]

  /// Figures that are members of the document themselves.
  package static func facts(_ columns: [Column<Value>], _ layout: FactLayout = .lines) -> SectionForm {
    SectionForm(shape: SectionShape(nil, .object(columns.map { SectionShape($0.heading) }))) { value in
      [ReportSection(nil, nil, .facts(columns.map { Fact($0, value) }, layout))]
    }
  }

  /// The figures of one object; `null` if `inner` finds none.
  package static func record<Inner>(
    _ key: String, _ title: String?, _ columns: [Column<Inner>], _ layout: FactLayout = .lines,
    of inner: @escaping @Sendable (Value) -> Inner?
  ) -> SectionForm {
    SectionForm(shape: SectionShape(key, .object(columns.map { SectionShape($0.heading) }))) { value in
      let content = inner(value).map { inner in
        ReportSection.Content.facts(columns.map { Fact($0, inner) }, layout)
      }
      return [ReportSection(key, title, content ?? .absent)]
    }
  }

  /// Rows.
  package static func table<Row>(
    _ key: String, _ title: String?, _ columns: [Column<Row>], _ look: TableLook = TableLook(),
    rows: @escaping @Sendable (Value) -> [Row]
  ) -> SectionForm {
    SectionForm(shape: SectionShape(key, .rows(columns.map { SectionShape($0.heading) }))) { value in
      [ReportSection(key, title, .table(FigureTable(columns, rows(value)), look))]
    }
  }

  /// Lines for people whose data is elsewhere in the document for programs, already escaped; nil for none.
  package static func words(_ words: @escaping @Sendable (Value) -> String?) -> SectionForm {
    SectionForm(shape: SectionShape(nil, .object([]))) { value in
      words(value).map { [ReportSection(nil, nil, .words($0))] } ?? []
    }
  }

  /// Rows whose data is elsewhere in the document for programs.
  package static func forPeople<Row>(
    _ title: String?, _ columns: [Column<Row>], _ look: TableLook = TableLook(),
    rows: @escaping @Sendable (Value) -> [Row]
  ) -> SectionForm {
    SectionForm(shape: SectionShape(nil, .object([]))) { value in
      [ReportSection(nil, title, .table(FigureTable(columns, rows(value)), look))]
    }
  }

  /// Rows whose columns are known only at run time; `null` without a table.
  package static func anyTable(
    _ key: String, _ title: String? = nil, _ look: TableLook, _ table: @escaping @Sendable (Value) -> FigureTable?
  ) -> SectionForm {
    SectionForm(shape: SectionShape(key, .any)) { value in
      [ReportSection(key, title, table(value).map { .table($0, look) } ?? .absent)]
    }
  }

  /// A document of any shape, for programs.
  package static func document(_ key: String, _ tree: @escaping @Sendable (Value) -> FigureTree) -> SectionForm {
    SectionForm(shape: SectionShape(key, .any)) { [ReportSection(key, nil, .document(tree($0)))] }
  }

  /// The sections of a part of the value, as if they were its own sections.
  package static func merged<Inner>(
    _ sections: [SectionForm<Inner>], of inner: @escaping @Sendable (Value) -> Inner
  ) -> SectionForm {
    SectionForm(shape: SectionShape(nil, .object(sections.flatMap(\.shape.members)))) { value in
      sections.flatMap { $0.fill(inner(value)) }
    }
  }

  /// An object with its own sections; `null` if `inner` finds none.
  package static func object<Inner>(
    _ key: String, _ title: String?, _ sections: [SectionForm<Inner>],
    of inner: @escaping @Sendable (Value) -> Inner?
  ) -> SectionForm {
    SectionForm(shape: SectionShape(key, .object(sections.flatMap(\.shape.members)))) { value in
      [ReportSection(key, title, inner(value).map { inner in .object(sections.flatMap { $0.fill(inner) }) } ?? .absent)]
    }
  }
}

/// The shape of documents of one schema.
package struct ReportShape: Sendable, Hashable {
  package let schema: String
  let sections: [SectionShape]
  /// `data` is an array of rows, printed as they come.
  let isRows: Bool

  init(schema: String, sections: [SectionShape], isRows: Bool) {
    (self.schema, self.sections, self.isRows) = (schema, sections, isRows)
  }

  /// For a list, whose `data` is an array.
  package init<Row>(list schema: String, _ columns: [Column<Row>]) {
    self.init(schema: schema, sections: columns.map { SectionShape($0.heading) }, isRows: true)
  }
}

/// One member of a document, or several members at the same level.
struct SectionShape: Sendable, Hashable {
  /// nil for several members at the same level.
  let key: String?
  let content: Content

  indirect enum Content: Sendable, Hashable {
    case figure(FigureKind)
    case object([SectionShape])
    case rows([SectionShape])
    case any
  }

  init(_ key: String?, _ content: Content) { (self.key, self.content) = (key, content) }
  init(_ heading: FigureHeading) { self.init(heading.key, .figure(heading.kind)) }

  /// Itself, or the members at the same level.
  var members: [SectionShape] {
    if key == nil, case .object(let members) = content { return members }
    return [self]
  }
}
