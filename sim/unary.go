// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
)

// embeddings answers with vectors of length 1 that are drawn, not computed from
// the input: the request's dimensions (8 unless it says so) for each input, as
// numbers or in base64.
func embeddings(c call, s *Script, id ids) []byte {
	var data [][]byte
	for i := range c.inputs {
		v := make([]float64, c.dimensions)
		norm := 0.0
		for j := range v {
			v[j] = id.r.NormFloat64()
			norm += v[j] * v[j]
		}
		norm = math.Sqrt(norm)
		var value []byte
		if c.base64 {
			raw := make([]byte, 0, 4*len(v))
			for _, x := range v {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x/norm)))
			}
			value = appendQuoted(nil, base64.StdEncoding.EncodeToString(raw))
		} else {
			value = []byte{'['}
			for j, x := range v {
				if j > 0 {
					value = append(value, ',')
				}
				value = strconv.AppendFloat(value, x/norm, 'g', -1, 32)
			}
			value = append(value, ']')
		}
		data = append(data, newObject().str("object", "embedding").int("index", i).raw("embedding", value).end())
	}
	o := newObject().str("object", "list").raw("data", array(data...)).str("model", c.model)
	if s.UsageShape != UsageNone {
		n := c.promptTokens
		if s.Usage != nil {
			n = s.Usage.InputTokens
		}
		o.raw("usage", newObject().int("prompt_tokens", n).int("total_tokens", n).end())
	}
	return o.end()
}

// models answers with the list of models, or with the one that was named.
func models(name string) []byte {
	one := func(id string) []byte {
		return newObject().str("id", id).str("object", "model").int("created", created).str("owned_by", "sim").end()
	}
	if name != "" {
		return one(name)
	}
	return newObject().str("object", "list").raw("data", array(one(defaultModelName))).end()
}
