// SPDX-License-Identifier: Apache-2.0

package budget

// Unit says what the values of a budget's bound and of its Result are.
type Unit uint8

// The units.
const (
	Tokens  Unit = iota // a number of tokens, and that of the zero Budget
	Seconds             // seconds
	Shares              // parts of 1
	ASecond             // calls or tokens a second
)

// Unit returns the unit of the budget's bound, and of the values of its Result.
func (b Budget) Unit() Unit {
	switch {
	case b.kind.timed():
		return Seconds
	case b.kind.rate():
		return Shares
	case b.kind == goodputRate || b.kind == throughput:
		return ASecond
	}
	return Tokens
}
