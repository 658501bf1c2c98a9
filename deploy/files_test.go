// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"go.yaml.in/yaml/v3"

	"github.com/tacho-go/tacho/deploy/internal/backend"
)

// TestFilesAreGenerated compares out/ with what the generator makes.
func TestFilesAreGenerated(t *testing.T) {
	t.Parallel()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("out", path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("out/%s is not what the generator makes: run go run ./generate in deploy (%v)", path, err)
		}
	}
	err = filepath.WalkDir("out", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && files[strings.TrimPrefix(filepath.ToSlash(path), "out/")] == nil {
			t.Errorf("%s is made no more", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDashboardDecodes reads the dashboard with the SDK's strict types, which
// refuse members that Grafana does not know and values of another type.
func TestDashboardDecodes(t *testing.T) {
	t.Parallel()
	plugins.RegisterDefaultPlugins()
	b := read(t, "grafana/dashboard.json")
	if wrong := wrongIn(b); wrong != "" {
		t.Error(wrong)
	}
	for from, to := range map[string]string{`"title": "Calls"`: `"titel": "Calls"`, `"expr"`: `"query"`, `"refresh": "30s"`: `"refresh": 30`} {
		if wrongIn(bytes.Replace(b, []byte(from), []byte(to), 1)) == "" {
			t.Errorf("%s in place of %s is read without an error", to, from)
		}
	}
}

// wrongIn says what is wrong in a dashboard. The SDK's errors are lists, and an
// empty one is no nil.
func wrongIn(b []byte) string {
	var d dashboard.Dashboard //lint:ignore SA1019 as in dashboard.go
	if err := d.UnmarshalJSONStrict(b); err != nil && err.Error() != "" {
		return err.Error()
	}
	if err := d.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// TestYAMLDecodes reads what no program here reads.
func TestYAMLDecodes(t *testing.T) {
	t.Parallel()
	var c struct {
		Services map[string]struct {
			Image   string
			Ports   []string
			Volumes []string
		}
	}
	if err := yaml.Unmarshal(read(t, "compose.yaml"), &c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: the port %s is open to other machines", name, p)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if _, err := os.Stat(filepath.Join("out", from)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, path := range []string{"grafana/datasources.yaml", "grafana/dashboards.yaml", "tempo.yaml"} {
		if err := yaml.Unmarshal(read(t, path), new(any)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCollectorValidates has the Collector read its configuration.
func TestCollectorValidates(t *testing.T) {
	t.Parallel()
	p := programs(t, backend.Collector)
	tool(t, p.Path(backend.Collector), "validate", "--config", "out/collector.yaml")
}

// TestRules has promtool read the rules and run their tests.
func TestRules(t *testing.T) {
	t.Parallel()
	p := programs(t, backend.Promtool)
	tool(t, p.Path(backend.Promtool), "check", "config", "out/prometheus/prometheus.yaml")
	tool(t, p.Path(backend.Promtool), "check", "rules", "--lint=all", "--lint-fatal", "out/prometheus/rules.yaml")
	tool(t, p.Path(backend.Promtool), "test", "rules", "out/prometheus/rules_test.yaml")
}

func programs(t *testing.T, names ...string) backend.Programs {
	t.Helper()
	p, err := backend.Find(names...)
	if err != nil {
		t.Skip("left out: ", err)
	}
	return p
}

func tool(t *testing.T, path string, args ...string) {
	t.Helper()
	b, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(path), strings.Join(args, " "), err, b)
		return
	}
	t.Logf("%s %s\n%s", filepath.Base(path), strings.Join(args, " "), b)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("out", path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// queriesOf returns the expressions of the committed dashboard by their panels,
// and the queries of its variables.
func queriesOf(t *testing.T) (panels map[string][]string, variables []string) {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct {
				Type  string
				Query any
			}
		}
	}
	if err := json.Unmarshal(read(t, "grafana/dashboard.json"), &d); err != nil {
		t.Fatal(err)
	}
	panels = map[string][]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			panels[p.Title] = append(panels[p.Title], target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if q, ok := v.Query.(string); ok && v.Type == "query" {
			variables = append(variables, q)
		}
	}
	return panels, variables
}
