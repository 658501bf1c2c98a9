// SPDX-License-Identifier: Apache-2.0

package export

import (
	"strings"

	"github.com/tacho-go/tacho"
)

// maxValue bounds the value of a label, in bytes.
const maxValue = 64

// conventional are the names that the conventions have for a recorder's labels.
var conventional = map[string]string{
	"operation":      "gen_ai.operation.name",
	"provider":       "gen_ai.provider.name",
	"model":          "gen_ai.request.model",
	"response_model": "gen_ai.response.model",
	"server":         "server.address",
	"api":            "tacho.api",
	"overflow":       "otel.metric.overflow",
}

const (
	streamKey  = "gen_ai.request.stream"
	outcomeKey = "tacho.outcome"
	tokenKey   = "gen_ai.token.type"
	classKey   = "tacho.status_class"
	codeKey    = "http.response.status_code"
)

// classes are the classes of status codes, by their first digit; "none" had none.
var classes = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// attributeOf returns the name and value under which a label is told. Values are
// told only if they are plain, else as _OTHER; a name that every point has is
// told as label.NAME.
func attributeOf(l tacho.Label) tacho.Label {
	name, ok := conventional[l.Name]
	if !ok {
		name = l.Name
	}
	switch name {
	case streamKey, outcomeKey, tokenKey, classKey, codeKey:
		name = "label." + name
	}
	return tacho.Label{Name: name, Value: plain(l.Value)}
}

func plain(s string) string {
	const others = "_.:/-"
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	}
	if len(s) > maxValue || strings.ContainsFunc(s, bad) {
		return "_OTHER"
	}
	return s
}

// help describes the figures.
var help = map[tacho.Figure]string{
	tacho.DNS: "Name lookup.", tacho.Connect: "Connecting.", tacho.TLS: "TLS handshake.",
	tacho.Send: "From the connection to the request written.", tacho.Wait: "From the request written to the first response byte.",
	tacho.TTFB: "From the start to the first response byte.", tacho.TTFC: "From the start to the first SSE event of any kind.",
	tacho.TTFT: "From the start to the first output in any channel.", tacho.TTFO: "From the start to the first output that a user sees.",
	tacho.TTLT: "From the start to the last output.", tacho.Duration: "From the start to the end of complete calls.",
	tacho.Gap: "Between two output events in succession.", tacho.TPOT: "Time per output token after the first.",
	tacho.NetworkWait: "Inside Read, from the first byte on.", tacho.ConsumerWait: "Outside Read, from the first byte on.",
}

// buckets is how many buckets a histogram has at most, the SDK's own default.
const buckets = 160
