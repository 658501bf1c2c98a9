// SPDX-License-Identifier: Apache-2.0

package export

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

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
	portKey    = "server.port"
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

// addressed returns labels with the port of the server as one of its own, as it
// is on the metrics of a transport: the two would be joined in vain otherwise.
func addressed(labels []tacho.Label) []tacho.Label {
	at := slices.IndexFunc(labels, func(l tacho.Label) bool { return l.Name == "server" })
	if at < 0 {
		return labels
	}
	labels = slices.Clone(labels)
	host, port, err := net.SplitHostPort(labels[at].Value)
	if err != nil {
		host = strings.Trim(labels[at].Value, "[]")
	} else {
		labels = append(labels, tacho.Label{Name: portKey, Value: port})
	}
	labels[at].Value = host
	return labels
}

// attributeFor returns a label as an attribute; a port is a number.
func attributeFor(l tacho.Label) attribute.KeyValue {
	if l.Name == portKey {
		if n, err := strconv.Atoi(l.Value); err == nil {
			return attribute.Int(portKey, n)
		}
	}
	return attribute.String(l.Name, l.Value)
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
