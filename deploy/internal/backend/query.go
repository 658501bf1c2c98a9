// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Series is one of a query's answer.
type Series struct {
	Metric    map[string]string
	Value     float64
	Buckets   []Bucket // of a native histogram
	IsBuckets bool
}

// Bucket is one of a native histogram, that from Low to High.
type Bucket struct{ Low, High, Count float64 }

// Query asks Prometheus for what an expression is now.
func (s *Stack) Query(ctx context.Context, expr string) ([]Series, error) {
	var data struct {
		Result []struct {
			Metric    map[string]string
			Value     [2]any
			Histogram []json.RawMessage
		}
	}
	if err := s.ask(ctx, "/api/v1/query", url.Values{"query": {expr}}, &data); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	all := make([]Series, len(data.Result))
	for i, r := range data.Result {
		all[i].Metric = r.Metric
		if len(r.Histogram) == 2 {
			if err := all[i].histogram(r.Histogram[1]); err != nil {
				return nil, err
			}
			continue
		}
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no value", expr, text)
		}
		all[i].Value = v
	}
	return all, nil
}

func (s *Series) histogram(b json.RawMessage) error {
	var h struct{ Buckets [][4]any }
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	s.IsBuckets = true
	for _, b := range h.Buckets {
		var v [3]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(fmt.Sprint(b[i+1]), 64)
		}
		s.Buckets = append(s.Buckets, Bucket{v[0], v[1], v[2]})
	}
	return nil
}

// One asks for a single number.
func (s *Stack) One(ctx context.Context, expr string) (float64, error) {
	all, err := s.Query(ctx, expr)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%s: %d series, not 1", expr, len(all))
	}
	if err != nil {
		return 0, err
	}
	return all[0].Value, nil
}

// Exemplars returns the trace ids of a metric's exemplars, with their values.
func (s *Stack) Exemplars(ctx context.Context, selector string) (map[string]float64, error) {
	var data []struct {
		Exemplars []struct {
			Labels map[string]string
			Value  string
		}
	}
	now := time.Now()
	err := s.ask(ctx, "/api/v1/query_exemplars", url.Values{"query": {selector},
		"start": {now.Add(-time.Hour).Format(time.RFC3339)}, "end": {now.Add(time.Minute).Format(time.RFC3339)}}, &data)
	all := map[string]float64{}
	for _, one := range data {
		for _, e := range one.Exemplars {
			v, _ := strconv.ParseFloat(e.Value, 64)
			all[e.Labels["trace_id"]] = v
		}
	}
	return all, err
}

// Rule is one that Prometheus evaluates.
type Rule struct{ Name, Type, Health, LastError, Query string }

// Rules returns all rules and how they fare.
func (s *Stack) Rules(ctx context.Context) (all []Rule, err error) {
	var data struct{ Groups []struct{ Rules []Rule } }
	err = s.ask(ctx, "/api/v1/rules", nil, &data)
	for _, g := range data.Groups {
		all = append(all, g.Rules...)
	}
	return all, err
}

// LabelValues returns the values that a label has among the series of a metric.
func (s *Stack) LabelValues(ctx context.Context, metric, label string) (all []string, err error) {
	return all, s.ask(ctx, "/api/v1/label/"+label+"/values?"+url.Values{"match[]": {metric}}.Encode(), nil, &all)
}

func (s *Stack) ask(ctx context.Context, path string, form url.Values, data any) error {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	b, err := get(ctx, method, s.Prometheus+path, form)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, &struct{ Data any }{data})
}

// Lines asks VictoriaLogs in LogsQL. Each line of the answer is an object.
func (s *Stack) Lines(ctx context.Context, query string) (all []map[string]string, err error) {
	b, err := get(ctx, http.MethodPost, s.Logs+"/select/logsql/query", url.Values{"query": {query}, "limit": {"10000"}})
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var one map[string]string
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func get(ctx context.Context, method, at string, form url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 400 {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	return b, err
}
