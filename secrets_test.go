// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"encoding/json"
	"testing"

	"github.com/tacho-go/tacho"
)

// TestCredentialMembers: which members of an object of a kind without a form of
// its own are left out, as credentials by their name. "code" and "keys" were.
func TestCredentialMembers(t *testing.T) {
	t.Parallel()
	kept := []string{"code", "keys", "keyboard", "keyword", "keywords", "monkey", "key_count", "max_tokens", "tokens", "total_tokens", "token_count", "tokenizer",
		"author", "authors", "secretary", "design", "authority", "hotkeys", "keyframes", "status_code", "country_code"}
	dropped := []string{"key", "Key", "api_key", "apiKey", "API-KEY", "APIKey", "apikey", "openai_api_key", "x-api-key", "accesskey", "api_keys", "apiKeys", "private_key", "ssh_keys", "Ocp-Apim-Subscription-Key",
		"token", "access_token", "accessToken", "accesstoken", "authtoken", "id_token", "refresh_tokens", "auth_tokens", "X-Amz-Security-Token", "secret", "client_secret", "clientSecret", "secrets", "SECRET_ACCESS_KEY",
		"auth", "auth_header", "authorization", "Authorization", "proxy-authorization", "oauth", "authentication", "bearer", "cookie", "cookies", "Set-Cookie", "password", "passwords", "db_password", "passwd", "passphrase", "pwd",
		"credential", "credentials", "google_credentials", "signature", "X-Amz-Signature", "sig", "headers", "http_headers"}
	for want, names := range map[bool][]string{true: kept, false: dropped} {
		for _, name := range names {
			body, err := json.Marshal(map[string]any{"input": []any{map[string]any{"type": "odd", "in": map[string]any{name: "print(1)"}}}})
			if err != nil {
				t.Fatal(err)
			}
			o := observe(t, responsesPath, string(body), 200, plainType, `{}`, tacho.WithContent(tacho.ContentInRecord))
			var got struct{ In map[string]string }
			if err := json.Unmarshal([]byte(o.call.Content().Input[0].Parts[0].JSON), &got); err != nil {
				t.Fatal(err)
			}
			if _, ok := got.In[name]; ok != want {
				t.Errorf("%q is kept: %v, want %v", name, ok, want)
			}
		}
	}
}
