/// How `transfers serve` shows the pages of reports: with links between them, refreshed, and with buttons if control is
/// allowed.
package struct HTMLLive: Sendable, Hashable {
  package struct Link: Sendable, Hashable {
    package let title, path: String

    package init(_ title: String, _ path: String) { (self.title, self.path) = (title, path) }
  }

  package let links: [Link]
  /// The path of the current page.
  package let path: String
  package let mayControl: Bool
  /// The entity tag of the page, with which a browser can check whether it has changed.
  package let tag: String

  package init(links: [Link], path: String, mayControl: Bool, tag: String) {
    (self.links, self.path, self.mayControl, self.tag) = (links, path, mayControl, tag)
  }

  /// The content security policy of every page: its own styles and scripts, requests to the same server, and no frames.
  package static let policy = """
    default-src 'none'; style-src 'sha256-\(HTMLAssets.styleDigest)' 'sha256-\(LiveAssets.styleDigest)'; \
    script-src 'sha256-\(HTMLAssets.scriptDigest)' 'sha256-\(LiveAssets.scriptDigest)' \
    'sha256-\(LiveAssets.entryDigest)'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'
    """

  var attributes: String {
    " data-live=\"\(mayControl ? "control" : "read")\" data-tag=\"\(HTMLText.escaped(tag))\""
  }

  var navigation: String {
    let links = links.map { link in
      let current = link.path == path ? " aria-current=\"page\"" : ""
      return "<a href=\"\(HTMLText.escaped(link.path))\"\(current)>\(HTMLText.escaped(link.title))</a>"
    }
    let words = mayControl ? "not refreshed without scripts" : "read-only; not refreshed without scripts"
    return
      "<nav class=\"site\">\(links.joined())<span id=\"live\" class=\"still\" role=\"status\">\(words)</span></nav>"
  }

  /// The page that asks for the token, with the reason.
  package static func entry(_ why: String) -> String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
    <title>Transfers: token</title>
    <style>\(HTMLAssets.style)</style><style>\(LiveAssets.style)</style></head><body>
    <main><form class="enter" method="post" action="/session"><h1>transfers serve</h1><p>\(HTMLText.escaped(why))</p>
    <label>Token <input type="password" name="token" autocomplete="off" required></label><button>Enter</button></form></main>
    <script>\(LiveAssets.entry)</script></body></html>

    """
  }
}
