// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
)

// Preset returns a Serving that imitates a published measurement. The error
// lists the names.
func Preset(name string) (Serving, error) {
	for _, p := range presets() {
		if p.name == name {
			return p.serving, nil
		}
	}
	return Serving{}, fmt.Errorf("sim: no preset %q; there are %s", name, strings.Join(Presets(), ", "))
}

// Presets returns the names that Preset knows.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
	}
	return names
}

type preset struct {
	name    string
	serving Serving
}

func presets() []preset {
	return []preset{{"gpt4-2024", Serving{}}, {"gpt4turbo-2024", Serving{}}, {"o1preview-2024", Serving{}}, {"llama3-8b-a100", Serving{}}}
}
