// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestRecordIsDescribed holds docs/record.md to the keys of the record.
func TestRecordIsDescribed(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[recordJSON]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if text := string(doc); !strings.Contains(text, "`"+key+"`") && !strings.Contains(text, "`"+key+"[]`") {
			t.Errorf("docs/record.md does not have %s", key)
		}
	}
}
