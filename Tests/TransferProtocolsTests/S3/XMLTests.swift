import Testing

@testable import TransferProtocols

@Suite struct XMLTests {
  private func read(_ text: String) -> Result<XMLElement, XMLFault> {
    do throws(XMLFault) { return .success(try XMLElement(document: Array(text.utf8))) } catch { return .failure(error) }
  }

  private func fault(_ text: String) -> XMLFault? {
    guard case .failure(let fault) = read(text) else { return nil }
    return fault
  }

  @Test func whatServersSend() throws {
    let text = """
      \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
      <!-- hello <b> -->
      <s3:R xmlns:s3='http://x/>' a="1">
        <Key> a&amp;b&#x20;&#252;&lt;&gt;&quot;&apos; </Key><Empty/><C><![CDATA[<x>&]]></C ><Part>1</Part><Part>2</Part>
      </s3:R>

      """
    let root = try read(text).get()
    #expect(root.name == "R")
    #expect(root.value("Key") == "a&b ü<>\"'")
    #expect(root.value("Empty") == nil)
    #expect(root["C"]?.text == "<x>&")
    #expect(root.all("Part").map(\.text) == ["1", "2"])
  }

  @Test(
    arguments: [
      ("", .unfinished), ("  ", .unfinished), ("x", .syntax), ("<a>", .unfinished), ("<a></b>", .syntax),
      ("<a></a><b/>", .syntax),
      ("<a/>x", .syntax), ("</a>", .syntax), ("<a", .unfinished), ("<>", .syntax), ("<1/>", .syntax),
      ("<a>&x;</a>", .syntax), ("<a>&#0;</a>", .syntax),
      ("<a>&#xD800;</a>", .syntax), ("<a>&#99999999;</a>", .syntax), ("<a>& b</a>", .syntax),
      ("<a>&#+65;</a>", .syntax),
      ("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", .doctype), ("<a><!ELEMENT b></a>", .doctype),
      ("<!-- x", .unfinished), ("<![CDATA[x]]>", .syntax),
      ("<a b=\"x></a>", .unfinished),
    ] as [(String, XMLFault)])
  func whatIsRefused(_ text: String, _ expected: XMLFault) {
    #expect(fault(text) == expected, "\(text)")
  }

  @Test func depthSizeAndNumberAreBounded() {
    let nested = { (depth: Int) in String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth) }
    #expect(fault(nested(16)) == nil)
    #expect(fault(nested(17)) == .tooDeep)
    #expect(fault("<a>" + String(repeating: "<b/>", count: 65_536) + "</a>") == .tooMany)
    #expect(fault("<a>" + String(repeating: "x", count: 4 << 20) + "</a>") == .tooLarge)
  }

  /// Seeded mutations of a real answer: never a crash, always an end, and a result only for a complete document.
  @Test func mutationsNeitherCrashNorHang() throws {
    let seed = Array(
      "<?xml version=\"1.0\"?><L><IsTruncated>false</IsTruncated><Part><ETag>&quot;a&quot;</ETag><Size>5</Size></Part></L>"
        .utf8)
    var state: UInt64 = 42
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let spice = Array("<>/&;!?[]-\"'#x0A \u{0}".utf8) + [0xFF, 0xC3]
    var complete = 0
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0...next(4) {
        switch next(4) {
        case 0: bytes[next(bytes.count)] = spice[next(spice.count)]
        case 1: bytes.insert(spice[next(spice.count)], at: next(bytes.count))
        case 2: bytes.remove(at: next(bytes.count))
        default: bytes.removeLast(next(bytes.count - 8))
        }
        if bytes.count < 16 { break }
      }
      if (try? XMLElement(document: bytes)) != nil { complete += 1 }
    }
    #expect(complete > 500 && complete < 15_000)
  }

  @Test func everyPrefixOfADocumentIsUnfinished() {
    let text = Array("<a><b x='1'>t</b><c/></a>".utf8)
    for count in 0..<text.count { #expect((try? XMLElement(document: Array(text.prefix(count)))) == nil) }
  }
}
