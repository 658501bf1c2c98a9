// SPDX-License-Identifier: Apache-2.0

package deploy

import "go.yaml.in/yaml/v3"

// These are Prometheus' rule files, as far as they are used here.
type ruleFile struct {
	Groups []ruleGroup `yaml:"groups"`
}

type ruleGroup struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

type rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// marshal writes YAML under a line that says where it comes from.
func marshal(v any) []byte {
	b, err := yaml.Marshal(v)
	if err != nil {
		panic(err) // of types of this package
	}
	return append([]byte(generated+"\n"), b...)
}

const generated = "# Made by deploy/generate: change that, not this."

// alert is an alert in parts, so that each part can be asked for on its own: a
// whole alert has no series as long as all is well.
type alert struct {
	name     string
	value    string   // what is compared
	over     string   // the comparison, such as "> 5"; "" without one
	guards   []guard  // what must hold besides
	only     []string // clauses that narrow the series: and on (…) …, unless on (…) …
	hold     string   // for how long
	severity string
	summary  string
	what     string
}

// guard is a comparison of series with the labels of the value.
type guard struct{ value, over string }

// rule puts the parts together.
func (a alert) rule() rule {
	expr := a.value
	if a.over != "" {
		expr += " " + a.over
	}
	for _, g := range a.guards {
		expr += "\nand " + g.value + " " + g.over
	}
	for _, c := range a.only {
		expr += "\n" + c
	}
	return rule{
		Alert: a.name, Expr: expr, For: a.hold,
		Labels:      map[string]string{"severity": a.severity},
		Annotations: map[string]string{"summary": a.summary, "description": a.what},
	}
}
