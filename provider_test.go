// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"net/http"
	"testing"

	"github.com/tacho-go/tacho"
)

func TestProviders(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"api.openai.com": "openai", "API.OpenAI.com:443": "openai", "name.openai.azure.com": "azure.ai.openai",
		"name.cognitiveservices.azure.com": "azure.ai.openai", "name.services.ai.azure.com": "azure.ai.inference",
		"name.eastus2.models.inference.ai.azure.com": "azure.ai.inference", "api.groq.com": "groq", "api.deepseek.com": "deepseek",
		"api.mistral.ai": "mistral_ai", "api.x.ai": "x_ai", "us-east-1.api.x.ai": "x_ai", "api.eu.mistral.ai": "mistral_ai", "api.us.mistral.ai": "mistral_ai", "api.perplexity.ai": "perplexity", "api.moonshot.ai": "moonshot_ai",
		"api.moonshot.cn": "moonshot_ai", "api.cohere.com": "cohere", "api.cohere.ai": "cohere", "api.anthropic.com": "anthropic",
		"generativelanguage.googleapis.com": "gcp.gemini", "europe-west1-aiplatform.googleapis.com": "gcp.vertex_ai",
		"us-south.ml.cloud.ibm.com": "ibm.watsonx.ai", "bedrock-runtime.us-east-1.amazonaws.com": "aws.bedrock",
		"bedrock-mantle.us-east-1.api.aws": "aws.bedrock", "BEDROCK-RUNTIME.us-east-1.AMAZONAWS.COM": "aws.bedrock", "bedrock-runtime.cn-north-1.amazonaws.com.cn": "aws.bedrock", "bedrock.invalid": "openai",
		"codestral.mistral.ai": "mistral_ai", "name.openai.azure.us": "azure.ai.openai", "eastus.api.cognitive.microsoft.com": "azure.ai.openai",
		"api.groq.com.": "groq", "my-api.x.ai": "openai", "aiplatform.googleapis.com": "gcp.vertex_ai", "openrouter.ai": "openai", "localhost:8080": "openai", "[::1]:8080": "openai", "[::1]": "openai", "127.0.0.1": "openai", "api.openai.com.evil.invalid": "openai",
	} {
		for _, named := range []string{"", "mine"} {
			var opts []tacho.Option
			if named != "" {
				opts = append(opts, tacho.WithProvider(named))
				want = named
			}
			ctx, tr := tacho.Track(t.Context())
			resp, err := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{}`), nil }), opts...).
				RoundTrip(newRequest(ctx, t, "https://"+host+"/v1/chat/completions", chatPlain))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			if got := one(t, tr).Provider(); got != want {
				t.Errorf("%s is %q, want %q", host, got, want)
			}
		}
	}
}
