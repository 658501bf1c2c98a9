// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Files of budgets.

// Read reads budgets, one a line. Empty lines and what follows a # are left out.
func Read(r io.Reader) ([]Budget, error) {
	var all []Budget
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if i := comment(text); i >= 0 {
			text = text[:i]
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		b, err := Parse(text)
		if err != nil {
			err.(*SyntaxError).Line = n
			return nil, err
		}
		all = append(all, b)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	return all, nil
}

// ReadFile is Read for a file.
func ReadFile(name string) ([]Budget, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	defer f.Close()
	return Read(f)
}

// comment returns where a comment begins, outside quotes; negative: nowhere.
func comment(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if quoted, err := strconv.QuotedPrefix(s[i:]); err == nil {
				i += len(quoted) - 1
			}
		case '#':
			return i
		}
	}
	return -1
}
