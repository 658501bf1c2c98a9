// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/deploy/internal/backend"
)

// about says with what the names of the scenarios of a rule begin.
var about = map[string]string{
	"TachoFirstOutputSlow": "Latency", "TachoReasoningFirstOutputSlow": "Latency", "TachoCallsFail": "Failures",
	"TachoStreamsStall": "Stalls", "TachoConsumersStall": "Stalls", "TachoServiceSilent": "Data",
	"TachoErrorBudgetBurnsFast": "Budgets", "TachoErrorBudgetBurns": "Budgets",
}

// TestRuleTestsSeeEachClause leaves out one clause of a rule at a time: the tests
// of the rules must fail then, or they do not say what the clause is for.
func TestRuleTestsSeeEachClause(t *testing.T) {
	t.Parallel()
	promtool := programs(t, backend.Promtool).Path(backend.Promtool)
	lines := strings.Split(string(read(t, "prometheus/rules.yaml")), "\n")
	group, n := "Well", 0
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if name, ok := strings.CutPrefix(l, "- alert: "); ok {
			group = about[name]
		}
		if !strings.HasPrefix(l, "and ") && !strings.HasPrefix(l, "unless ") && !strings.HasPrefix(l, "or ") {
			continue
		}
		n++
		run := group
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			without := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
			write(t, filepath.Join(dir, "rules.yaml"), []byte(without))
			write(t, filepath.Join(dir, "rules_test.yaml"), read(t, "prometheus/rules_test.yaml"))
			b, err := exec.CommandContext(t.Context(), promtool, "test", "rules", "--run", "^"+run+":", filepath.Join(dir, "rules_test.yaml")).CombinedOutput()
			if err == nil || !strings.Contains(string(b), "got: ") {
				t.Errorf("rules.yaml:%d: no test fails without %q: %s", i+1, l, b)
			}
		})
	}
	if n == 0 {
		t.Error("no rule has a clause")
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
