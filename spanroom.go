// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"reflect"

	"go.opentelemetry.io/otel/attribute"
)

// The attributes of a span stand in a list of a kilobyte before they are set,
// which is used again where the span copies it: OpenTelemetry's SDK does, and of
// another implementation nobody knows.

// attributeRoom is for those of most calls and not for all.
const attributeRoom = 24

// sdkSpans is the package whose spans copy their attributes.
const sdkSpans = "go.opentelemetry.io/otel/sdk/trace"

// attributeRoom returns room for the attributes of the call's span.
func (x *exchange) attributeRoom() []attribute.KeyValue {
	if list, ok := x.transport.rooms.Get().(*[attributeRoom]attribute.KeyValue); ok {
		return list[:]
	}
	return make([]attribute.KeyValue, attributeRoom)
}

// giveBack keeps the room for another call, without what is in it.
func (x *exchange) giveBack(room []attribute.KeyValue) {
	if t := reflect.TypeOf(x.span); t.Kind() != reflect.Pointer || t.Elem().PkgPath() != sdkSpans {
		return
	}
	clear(room)
	x.transport.rooms.Put((*[attributeRoom]attribute.KeyValue)(room))
}
