import Testing

@testable import TransferProtocols

/// File names that servers give: how they are read, and what they become.
@Suite struct ContentDispositionTests {
  @Test(arguments: [
    ("attachment; filename=a.txt", "a.txt"), ("attachment;filename=\"a b.txt\"", "a b.txt"),
    ("INLINE ; FileName = \"a\\\"b.txt\" ;", "a_b.txt"), ("attachment; filename=\"50%25.txt\"", "50%25.txt"),
    ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt; filename=x", "€ rates.txt"),
    ("attachment; filename=x; filename*=iso-8859-1'en'%A3.txt", "£.txt"),
    ("attachment; filename=x; filename*=utf-8''%ff", "x"), ("attachment; filename=x; filename*=koi8-r''y", "x"),
    ("attachment; size=3; filename=x; creation-date=\"y\"", "x"), ("attachment; filename=größe.txt", "größe.txt"),
  ]) func aNameIsRead(_ field: String, _ name: String) { #expect(ContentDisposition.name(field) == name) }

  @Test(arguments: [
    "", "attachment", "attachment; filename", "attachment; filename=", "attachment; filename=\"x",
    "attachment; filename=a b", "attachment; filename=x; filename=y", "filename=x", "attachment, filename=x",
    "; filename=x", "attachment; filename=\"\\", "attachment; =x",
  ]) func aMalformedFieldGivesNone(_ field: String) { #expect(ContentDisposition.name(field) == nil) }

  @Test(arguments: [
    ("../../etc/passwd", "passwd"), ("C:\\windows\\x.exe", "x.exe"), (".bashrc", "bashrc"), ("...x", "x"),
    (" x . ", "x"), ("a\u{0}b\n\u{7F}\u{85}c", "abc"), ("gpj\u{202E}.exe", "gpj.exe"), ("a:b|c?", "a_b_c_"),
    ("x\u{200B}y\u{FEFF}", "xy"), ("con_", "con_"), ("com", "com"),
  ]) func whatIsUnfitIsTakenOut(_ name: String, _ fit: String) { #expect(ContentDisposition.sanitized(name) == fit) }

  @Test(arguments: [
    "", ".", "..", "/", "a/", "a\\", " ", "CON", "nul.txt", "Lpt1.tar.gz", "aux .x", "\u{202E}", "a/..",
  ])
  func whatHasNoNameLeftGivesNone(_ name: String) { #expect(ContentDisposition.sanitized(name) == nil) }

  @Test func aLongNameKeepsItsEnding() {
    let name = ContentDisposition.sanitized(String(repeating: "é", count: 300) + ".tar")
    #expect(name?.utf8.count == 254 && name?.hasSuffix("é.tar") == true)
    #expect(ContentDisposition.sanitized(String(repeating: "x", count: 400))?.utf8.count == 255)
    let strange = ContentDisposition.sanitized("a." + String(repeating: "y", count: 400))
    #expect(strange?.utf8.count == 255)
  }
}
