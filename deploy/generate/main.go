// SPDX-License-Identifier: Apache-2.0

// Generate writes deploy/out; run it in deploy/.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/tacho-go/tacho/deploy"
)

func main() {
	log.SetFlags(0)
	files, err := deploy.Files()
	if err != nil {
		log.Fatal(err)
	}
	// A file that is made no more is to go.
	if err := os.RemoveAll("out"); err != nil {
		log.Fatal(err)
	}
	for path, b := range files {
		path = filepath.Join("out", filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			log.Fatal(err)
		}
	}
	log.Printf("out: %d files", len(files))
}
