// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// objects reads the values of a JSON array, or of a file with one behind the other,
// until read says that it has enough. The end of the file must be that of the
// array: half a file is no shorter list.
func objects(r io.Reader, array bool, what string, read func(n int, d *json.Decoder) (more bool, err error)) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	if array {
		if _, err := d.Token(); err != nil {
			return err
		}
	}
	n := 0
	for d.More() {
		n++
		if more, err := read(n, d); err != nil {
			return fmt.Errorf("%s %d: %w", what, n, err)
		} else if !more {
			return nil
		}
	}
	if array {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return fmt.Errorf("the file ends behind %s %d, and its list does not: is it the whole file?", what, n)
		} else if err != nil {
			return fmt.Errorf("behind %s %d: %w", what, n, err)
		}
	}
	switch token, err := d.Token(); {
	case err == nil:
		return fmt.Errorf("behind %s %d: there is %v behind the list", what, n, token)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("behind %s %d: %w", what, n, err)
	}
	return nil
}
