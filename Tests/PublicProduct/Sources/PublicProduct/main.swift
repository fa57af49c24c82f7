// PublicProduct STORE SOURCE URL TOKEN: uses every part of the library against a receiver that requires the token, and
// exits with 0 if everything worked as documented.

import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let words = CommandLine.arguments
guard words.count == 5 else { fatalError("usage: PublicProduct STORE SOURCE URL TOKEN") }
do {
  let trial = Trial(store: words[1], source: words[2], url: words[3], tokens: TokenShop(valid: words[4]))
  try await trial.sendsWithProgress()
  try await trial.controls()
  try await trial.reports()
  try await trial.continuesEvents()
  try await trial.tellsErrorsByCode()
  print("ok")
} catch {
  print("failed: \(error)")
  exit(1)
}
