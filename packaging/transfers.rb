# Untested. Put the address of your copy of the sources for the two of example.org, and this file into a tap.
class Transfers < Formula
  desc "Resumable file transfers with a durable ledger"
  homepage "https://example.org/transfers"
  license "Apache-2.0"
  head "https://example.org/transfers.git", branch: "main"

  depends_on "lld" => :build
  depends_on "pkgconf" => :build
  depends_on "swift" => :build
  depends_on "curl"
  depends_on "libyaml"
  depends_on :linux
  depends_on "openssl@3"
  depends_on "sqlite"

  def install
    # Swift's compiler and linker bypass Homebrew's wrappers; libcurl is loaded when the program runs, by its run path.
    system "swift", "build", "--disable-sandbox", "--configuration", "release", "--product", "transfers",
           "-Xcc", "-I#{HOMEBREW_PREFIX}/include", "-Xlinker", "-L#{HOMEBREW_PREFIX}/lib",
           "-Xlinker", "-rpath", "-Xlinker", "#{HOMEBREW_PREFIX}/lib"
    bin.install ".build/release/transfers"
    generate_completions_from_executable(bin/"transfers", "completions", shells: [:bash, :zsh, :fish])
  end

  test do
    (testpath/"a").write "kept"
    sum = Digest::SHA256.hexdigest("kept")
    assert_match sum, shell_output("#{bin}/transfers manifest build --digest sha256 #{testpath}/a")
  end
end
