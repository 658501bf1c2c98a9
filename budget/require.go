// SPDX-License-Identifier: Apache-2.0

package budget

// TestingT is what Require and Assert need of a *testing.T.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// Assert judges the budgets and, when one is broken, or undecided without the
// reading's leave, fails the test with one table of all of them, the five worst
// calls and a chart. It reports whether all hold.
func Assert(t TestingT, r Reading, budgets ...Budget) bool {
	t.Helper()
	report := r.Report(budgets...)
	if report.Failed() {
		t.Errorf("%s", report)
		return false
	}
	return true
}

// Require is Assert that ends a test that fails.
func Require(t TestingT, r Reading, budgets ...Budget) {
	t.Helper()
	if !Assert(t, r, budgets...) {
		t.FailNow()
	}
}
