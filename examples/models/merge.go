// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/load"
)

// merge tells the results of several generators as those of one: the folders of
// -out, each of a -segment of one schedule.
func (p *program) merge(args []string) int {
	var s settings
	fs := flag.NewFlagSet("models merge", flag.ContinueOnError)
	fs.StringVar(&s.flags.Out, "out", "", "write the merged report and histograms to the folder `DIR`")
	fs.BoolVar(&s.flags.Overwrite, "overwrite", false, "replace a report that is in -out")
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr, cli.Files); done {
		return code
	}
	sides, err := merged(fs.Args())
	if err != nil {
		return cli.Bad(p.stderr, "models merge", err)
	}
	began := sides[0].result.Start
	s.ended = began
	for _, sd := range sides {
		if sd.result.Start.Before(began) {
			began = sd.result.Start
		}
		for _, st := range sd.result.Stages {
			if end := st.Start.Add(st.Window); end.After(s.ended) {
				s.ended = end
			}
		}
	}
	s.merged = true
	return p.finish(s, sides, began)
}

// merged reads and merges the results in folders, by model.
func merged(dirs []string) (sides []*side, err error) {
	if len(dirs) == 0 {
		return nil, errors.New("name the folders that -out wrote")
	}
	all := map[string]*load.Result{}
	for _, dir := range dirs {
		name := filepath.Join(dir, loads.ResultName)
		one, err := loads.File(name, func(r io.Reader) (m map[string]*load.Result, err error) {
			return m, json.NewDecoder(r).Decode(&m)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(one) == 0 {
			return nil, fmt.Errorf("%s: there is no model's result in it", name)
		}
		for model, r := range one {
			if r == nil {
				return nil, fmt.Errorf("%s: %s has no result", name, model)
			}
			if have := all[model]; have != nil {
				if r, err = have.Merge(r); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", name, model, err)
				}
			}
			all[model] = r
		}
	}
	for model, r := range all {
		sides = append(sides, &side{name: model, shown: fmt.Sprintf("merged from segments %v", r.Segments), result: r})
	}
	slices.SortFunc(sides, func(a, b *side) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return sides, nil
}
