infix operator +| : AdditionPrecedence
infix operator -| : AdditionPrecedence
infix operator *| : MultiplicationPrecedence
infix operator +|= : AssignmentPrecedence

/// Saturating arithmetic for sums of a ledger. Anybody with write access can have changed a ledger, and times and
/// counts near 2^63 must not crash the program: a value out of range becomes the nearest representable one.
extension FixedWidthInteger where Self: SignedInteger {
  package static func +| (a: Self, b: Self) -> Self {
    let (sum, overflows) = a.addingReportingOverflow(b)
    return overflows ? (b > 0 ? .max : .min) : sum
  }

  package static func -| (a: Self, b: Self) -> Self {
    let (difference, overflows) = a.subtractingReportingOverflow(b)
    return overflows ? (b > 0 ? .min : .max) : difference
  }

  package static func *| (a: Self, b: Self) -> Self {
    let (product, overflows) = a.multipliedReportingOverflow(by: b)
    return overflows ? ((a > 0) == (b > 0) ? .max : .min) : product
  }

  package static func +|= (a: inout Self, b: Self) { a = a +| b }

  /// `self / divisor` rounded down; `divisor` must be positive.
  package func floored(by divisor: Self) -> Self {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// `self / divisor` rounded up; `self` must not be negative, `divisor` must be positive. It never overflows, however
  /// large a length in a manifest, an option or an answer is.
  package func dividedUp(by divisor: Self) -> Self {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest > 0 ? quotient + 1 : quotient
  }

  /// The nearest representable integer; 0 for NaN.
  package init(nearest value: Double) {
    let whole = value.rounded()
    self = whole.isNaN ? 0 : Self(exactly: whole) ?? (whole < 0 ? .min : .max)
  }
}
