// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// reach sends the collector an export of nothing, before any call is made: the
// exporters would try again and again, and tell of it by lines of their own.
func reach(ctx context.Context, otlp string) error {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, otlp+"/v1/traces", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		err = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return err
		}
		err = fmt.Errorf("%s: status %d", req.URL.Redacted(), resp.StatusCode)
	}
	return fmt.Errorf("no collector at %s takes traces; start an OpenTelemetry Collector there or name another by -otlp URL; `make stack` brings one up with backends and runs this program (%w)", strings.TrimSuffix(req.URL.Redacted(), "/v1/traces"), err)
}
