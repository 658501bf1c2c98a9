// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"embed"
	"text/template"

	"github.com/tacho-go/tacho/internal/conv"
)

//go:embed templates
var templates embed.FS

// versions are those of the programs that the files are written for. The
// collector and Prometheus are those that the tests run; the images of the others
// are not tried here. Stall is the event of a stalled stream.
var versions = struct{ Collector, Prometheus, Tempo, Loki, Grafana, Stall string }{"0.161.0", "3.16.0", "2.8.2", "3.5.5", "12.2.0", conv.EventStall}

// Files returns all files by their paths below out/.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{
		"prometheus/rules.yaml":      marshal(rules()),
		"prometheus/rules_test.yaml": marshal(ruleTests()),
	}
	dashboard, err := dashboardJSON()
	if err != nil {
		return nil, err
	}
	files["grafana/dashboard.json"] = dashboard
	t, err := template.ParseFS(templates, "templates/*.yaml")
	if err != nil {
		return nil, err
	}
	for name, path := range map[string]string{
		"collector.yaml": "collector.yaml", "prometheus.yaml": "prometheus/prometheus.yaml", "compose.yaml": "compose.yaml",
		"tempo.yaml": "tempo.yaml", "datasources.yaml": "grafana/datasources.yaml", "dashboards.yaml": "grafana/dashboards.yaml",
	} {
		b := bytes.NewBufferString(generated + "\n")
		if err := t.ExecuteTemplate(b, name, versions); err != nil {
			return nil, err
		}
		files[path] = b.Bytes()
	}
	return files, nil
}
