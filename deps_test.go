// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A user's build gets every version that go.mod names, so this is the whole
// list of what it may require, and what for. A requirement that is no longer
// used is go mod tidy's to remove.
var mayRequire = map[string]string{
	"go.opentelemetry.io/otel":        "the OpenTelemetry API",
	"go.opentelemetry.io/otel/trace":  "the OpenTelemetry API",
	"go.opentelemetry.io/otel/metric": "the OpenTelemetry API",
	"go.opentelemetry.io/otel/log":    "the OpenTelemetry API",
	"golang.org/x/sys":                "TCP_INFO on Linux",
	"golang.org/x/text":               "Unicode normal forms in the tokenizer",
	"github.com/cenkalti/backoff/v5":  "the delays between attempts",

	"github.com/google/go-cmp":            "tests",
	"github.com/stretchr/testify":         "tests",
	"go.opentelemetry.io/otel/sdk":        "tests",
	"go.opentelemetry.io/otel/sdk/metric": "tests",
}

// What the packages of this module may compile into a program: the modules
// above that are not for tests, and what the OpenTelemetry API brings along.
var mayCompileIn = []string{
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/trace",
	"go.opentelemetry.io/otel/metric",
	"go.opentelemetry.io/otel/log",
	"go.opentelemetry.io/auto/sdk",
	"github.com/cespare/xxhash/v2",
	"github.com/go-logr/logr",
	"github.com/go-logr/stdr",
	"golang.org/x/sys",
	"golang.org/x/text",
	"github.com/cenkalti/backoff/v5",
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(goTool(t, nil, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	direct := 0
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		direct++
		if _, ok := mayRequire[r.Path]; !ok {
			t.Errorf("go.mod requires %s, which is not in the list of this test", r.Path)
		}
	}
	if direct == 0 {
		t.Error("go.mod has no direct requirement: run go mod tidy")
	}
}

func TestCompiledInModules(t *testing.T) {
	t.Parallel()
	const module = "github.com/tacho-go/tacho"
	allowed := map[string]bool{module: true}
	for _, path := range mayCompileIn {
		allowed[path] = true
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			out := goTool(t, []string{"GOOS=" + goos, "GOARCH=amd64"}, "list", "-deps",
				"-f", "{{if not .Standard}}{{with .Module}}{{.Path}}{{end}} {{.ImportPath}}{{end}}", "./...")
			seen := map[string]bool{}
			for line := range strings.Lines(string(out)) {
				path, pkg, _ := strings.Cut(strings.TrimSpace(line), " ")
				seen[path] = true
				if !allowed[path] {
					t.Errorf("%s of module %q is compiled in", pkg, path)
				}
			}
			if !seen[module] {
				t.Errorf("go list names no package of %s:\n%s", module, out)
			}
		})
	}
}

// TestBinarySize bounds by how much a program grows that sends its requests
// through a Transport. The linker keeps embedded data, such as a vocabulary, as
// soon as a package initialiser mentions it.
func TestBinarySize(t *testing.T) {
	t.Parallel()
	const limit = 1_500_000
	bare := binarySize(t, `package main

import "net/http"

func main() {
	c := &http.Client{Transport: http.DefaultTransport}
	if resp, err := c.Get("http://127.0.0.1/"); err == nil {
		resp.Body.Close()
	}
}
`)
	measured := binarySize(t, `package main

import (
	"net/http"

	"github.com/tacho-go/tacho"
)

func main() {
	c := &http.Client{Transport: tacho.NewTransport(nil, tacho.WithoutTracing(), tacho.WithoutMetrics())}
	if resp, err := c.Get("http://127.0.0.1/"); err == nil {
		resp.Body.Close()
	}
}
`)
	t.Logf("bare %d bytes, with a Transport %d bytes, %d more", bare, measured, measured-bare)
	if measured-bare > limit {
		t.Errorf("a Transport adds %d bytes to a program, more than %d", measured-bare, limit)
	}
}

// TestVocabularyInBinary holds which programs have the vocabularies in them:
// those that ask for an encoding by its name, and no others, not even those
// that count by a tokenizer file.
func TestVocabularyInBinary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, call string
		want       bool
	}{
		{"Transport", `http.DefaultTransport = tacho.NewTransport(nil)`, false},
		{"LoadTokenizer", `enc, _ := tacho.LoadTokenizer(nil); println(enc.Count(""))`, false},
		{"EncodingByName", `enc, _ := tacho.EncodingByName(http.MethodGet); println(enc.Count(""))`, true},
		{"EncodingForModel", `enc, _, _ := tacho.EncodingForModel(http.MethodGet); println(enc.Count(""))`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program := build(t, "package main\n\nimport (\n\"net/http\"\n\"github.com/tacho-go/tacho\"\n)\n\nvar _ = http.MethodGet\n\nfunc main() {"+c.call+"}\n")
			for _, name := range []string{"p50k_base", "cl100k_base", "o200k_base"} {
				data, err := os.ReadFile("internal/bpe/data/" + name + ".bin")
				if err != nil {
					t.Fatal(err)
				}
				if got := bytes.Contains(program, data); got != c.want {
					t.Errorf("%s is in the program: %v", name, got)
				}
			}
		})
	}
}

// binarySize returns the size of a program's stripped binary.
func binarySize(t *testing.T, source string) int64 {
	t.Helper()
	return int64(len(build(t, source)))
}

// build builds a program as part of this module and returns its stripped binary.
func build(t *testing.T, source string) []byte {
	t.Helper()
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	goTool(t, nil, "build", "-ldflags=-s -w", "-o", binary, file)
	data, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// goTool runs the go command on this module alone, as a user's build sees it,
// and returns its standard output.
func goTool(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}
