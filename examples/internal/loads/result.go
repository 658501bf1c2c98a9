// SPDX-License-Identifier: Apache-2.0

package loads

import (
	"encoding/json"
	"io"

	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// ResultName is the file of results.
const ResultName = "load.json"

// ResultFile is everything that loads counted and measured, by their names, to
// merge with other segments.
func ResultFile(all map[string]*load.Result) report.File {
	return report.File{Name: ResultName, Write: func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(all)
	}}
}
