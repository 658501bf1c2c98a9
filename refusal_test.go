// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestErrorShapes has an error of every shape that servers were seen to send,
// under its status, and what the record says of it.
func TestErrorShapes(t *testing.T) {
	t.Parallel()
	const chat, responses, embeddings, speech = "/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/audio/speech"
	for _, tc := range []struct {
		name, path string
		status     int
		body       string
		typ, code  string
	}{
		{"OpenAI", chat, 400, `{"error":{"message":"m","type":"t","param":null,"code":"c"}}`, "t", "c"},
		{"code as a number", chat, 401, `{"error":{"message":"m","type":"t","code":401}}`, "t", "401"},
		{"code null", chat, 400, `{"error":{"code":null,"message":"m","type":"t"}}`, "t", ""},
		{"in a list, Gemini", chat, 400, "[{\n  \"error\": {\"code\": 400, \"message\": \"m\", \"status\": \"INVALID_ARGUMENT\"}}]\n", "", "400"},
		{"a list of errors, watsonx", chat, 404, `{"errors":[{"code":"c","message":"m"},{"code":"second"}],"trace":"x","status_code":404}`, "", "c"},
		{"a list of errors, Cloudflare", chat, 400, `{"result":null,"success":false,"errors":[{"code":5006,"message":"m"}],"messages":[]}`, "", "5006"},
		{"a list under error", chat, 400, `{"error":[{"code":7003,"message":"m"}],"success":false}`, "", "7003"},
		{"a text, Voyage", embeddings, 400, `{"detail":"m"}`, "", ""},
		{"a text with a code beside it, xAI", responses, 400, `{"code":"c","error":"m"}`, "", "c"},
		{"a text with a type beside it, TGI", chat, 422, `{"error":"m","error_type":"validation"}`, "validation", ""},
		{"without an object, vLLM", embeddings, 400, `{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}`, "BadRequestError", "400"},
		{"without an object, speech", speech, 400, `{"object":"error","message":"m","type":"t","code":"c"}`, "t", "c"},
		{"without an object, Databricks", chat, 403, `{"error_code":"PERMISSION_DENIED","message":"m"}`, "", "PERMISSION_DENIED"},
		{"without an object, Azure API Management", chat, 401, `{ "statusCode": 401, "message": "m" }`, "", "401"},
		{"a message that is an object, Mistral", chat, 422, `{"object":"error","message":{"detail":[{"type":"missing","loc":["body"],"msg":"m"}]},"type":"invalid_request_error","code":null}`, "invalid_request_error", ""},
		{"FastAPI's list", chat, 422, `{"detail":[{"type":"missing","loc":["body","model"],"msg":"m"},{"type":"second","msg":"m"}]}`, "missing", ""},
		{"an object in the detail", chat, 400, `{"detail":{"error":{"message":"m","type":"t","code":"c"}}}`, "t", "c"},
		{"a text in the detail", chat, 400, `{"detail":{"error":"m"}}`, "", ""},
		{"an envelope around the object", chat, 529, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, "overloaded_error", ""},
		{"an envelope behind the object", chat, 529, `{"error":{"type":"overloaded_error","message":"m"},"type":"error"}`, "overloaded_error", ""},
		{"the object's members go before those around it", chat, 400, `{"code":400,"type":"outer","error":{"type":"t","code":"c"}}`, "t", "c"},
		{"wherever those stand", chat, 400, `{"error":{"type":"t","code":"c","message":"m"},"type":"outer","code":400}`, "t", "c"},
		{"what the object lacks holds", responses, 400, `{"error":{"message":"m","type":"t"},"code":"c"}`, "t", "c"},
		{"a plain text", chat, 500, "upstream connect error", "", ""},
		{"a web page", chat, 502, "<html>\r\n<head><title>502 Bad Gateway</title></head>", "", ""},
		{"nothing", chat, 500, "", "", ""},
		{"as a stream", chat, 400, "data: {\"error\":{\"message\":\"m\",\"type\":\"t\",\"code\":\"c\"}}\n\ndata: [DONE]\n\n", "t", "c"},
		{"as a stream behind others", chat, 503, ": ping\n\nevent: start\ndata: {}\n\nevent: error\ndata: {\"type\":\"t\",\ndata: \"code\":\"c\",\"message\":\"m\"}\n\ndata: {\"error\":{\"code\":\"late\"}}\n\n", "t", "c"},
		{"as a stream that breaks off", responses, 400, "data: {\"error\":{\"type\":\"t\",\"code\":\"c\"}}", "t", "c"},
		{"behind a byte order mark", chat, 400, "\ufeff{\"error\":{\"type\":\"t\",\"code\":\"c\"}}", "t", "c"},
	} {
		for _, typ := range []string{"", "application/json", "text/event-stream", "text/plain"} {
			t.Run(tc.name+"/"+typ, func(t *testing.T) {
				t.Parallel()
				request := chatStream
				if tc.path == responses {
					request = responsesStream
				}
				header := http.Header{}
				if typ != "" {
					header.Set("Content-Type", typ)
				}
				got := through(t, tc.path, tc.status, header, tc.body, request, io.EOF)
				want := map[string]any{"mid_stream": false}
				if tc.typ != "" {
					want["type"] = tc.typ
				}
				if tc.code != "" {
					want["code"] = tc.code
				}
				if diff := cmp.Diff(want, got["error"]); diff != "" {
					t.Errorf("error: (-want +got)\n%s", diff)
				}
				if got["outcome"] != "error" || got["stream"] != false || got["events"] != nil {
					t.Errorf("outcome %v, stream %v, events %v; want error, false, none", got["outcome"], got["stream"], got["events"])
				}
			})
		}
	}
}
