# shellcheck shell=bash
# shellcheck disable=SC2154 # root and dir are set by the script that sources this
# The demo of swift-nio-extras 1.35.2: IETF resumable uploads, interop versions 3, 5 and 6. It writes bodies directly to
# the final name. Built from the package's own source, with the port and the loopback address in place of 8080 and
# 0.0.0.0; the first build takes some minutes, so only the long form uses it.

nio_home() { printf '%s\n' "$root/.build/tools/servers/nio"; }
nio_demo() { printf '%s\n' "$(nio_home)/.build/debug/demo"; }

install_server() {
  local home demo
  need_swift
  need curl:curl
  home=$(nio_home)
  [[ ! -x $(nio_demo) ]] || return 0
  mkdir -p "$home/Sources/demo"
  cat >"$home/Package.swift" <<'END'
// swift-tools-version:6.0
import PackageDescription

let package = Package(
  name: "demo",
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio-extras.git", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.81.0"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
  ],
  targets: [
    .executableTarget(
      name: "demo",
      dependencies: [
        .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ])
  ],
  swiftLanguageModes: [.v5]
)
END
  [[ -e $home/Sources/demo/main.swift ]] || printf '\n' >"$home/Sources/demo/main.swift"
  swift package --package-path "$home" resolve
  demo=$home/.build/checkouts/swift-nio-extras/Sources/NIOResumableUploadDemo/main.swift
  sed -e 's|origin: "http://localhost:8080"|origin: "http://127.0.0.1:" + CommandLine.arguments[2]|' \
    -e 's|host: "0.0.0.0", port: 8080|host: "127.0.0.1", port: Int(CommandLine.arguments[2])!|' "$demo" \
    >"$home/Sources/demo/main.swift"
  grep -q 'host: "127.0.0.1"' "$home/Sources/demo/main.swift" || give_up 70 "the demo of swift-nio-extras has changed"
  swift build --package-path "$home"
}

start_server() {
  local port
  port=$(free_ports 1)
  printf 'http://127.0.0.1:%s\n' "$port" >"$dir/url"
  launch "$dir/log" "$(nio_demo)" "$dir/data" "$port"
}

server_is_ready() { answers "$(<"$dir/url")/"; }
