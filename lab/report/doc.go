// SPDX-License-Identifier: Apache-2.0

// Package report tells what an experiment measured: as text on a terminal, as
// JSON, CSV and Markdown, and as one HTML page that holds all it needs.
//
// A [Report] has a head (what was measured, when, with which parameters), its
// warnings, which every form shows first, and sections. A [Section] holds text,
// a [Table], or a [Chart]: [Quantiles], [Lines], [Bars], [Waterfall]. Each chart
// has its data as a table too: the page shows both, the other forms the table.
//
// A [Cell] is a value or is absent. An absent one is an en dash for readers, an
// empty field in CSV, and left out of the JSON; it is never 0. A value can be
// marked: at least (≥), at most (≤), estimated (~), and have a published value
// beside it. [Latency] and [Verdicts] make the sections that most programs want,
// of a recorder's snapshot and of budgets.
//
// # Units
//
// JSON and CSV have seconds, shares of 1 and plain numbers, with all digits.
// The other forms have one unit and one number of decimals in a column, which
// the values choose: s, ms, µs or ns for all times of a table, and percent for
// shares. They have three digits of the smallest value and no more than six of
// the greatest. What would be rounded to 0 is told as less than the least number
// that the column can show, and a share near 1 as more than the greatest.
//
// # Safety
//
// Every text is taken for hostile. Control characters, characters that turn the
// direction of writing, and bytes that are no UTF-8 become U+FFFD, line breaks
// become spaces; each form escapes what means something in it. In CSV a text
// that a spreadsheet would run as a formula gets an apostrophe before it. URLs
// in a text lose their user information, query and fragment ([CleanURL]). The
// page runs no script and loads nothing, and forbids both by a policy of its own.
// What else a report shows is what the caller put in: nothing is taken from the
// environment, and a snapshot has neither content nor keys.
//
// A Report and its parts are values without locks: do not change them while
// they are written. The functions keep nothing and may be used by several
// goroutines at once.
package report
