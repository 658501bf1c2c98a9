// SPDX-License-Identifier: Apache-2.0

package tacho

import "strings"

// hosts names the provider of hosts, by their ends. The names are those of
// OpenTelemetry's conventions (gen_ai.provider.name), the hosts those that the
// providers' own documentation gives for their APIs. A provider that the
// conventions do not name speaks OpenAI's flavour, and server.address tells it.
var hosts = [...]struct{ end, provider string }{
	{"api.openai.com", "openai"},                        // platform.openai.com/docs/api-reference
	{".openai.azure.com", "azure.ai.openai"},            // learn.microsoft.com/azure/ai-services/openai/reference
	{".openai.azure.us", "azure.ai.openai"},             // the same, Azure Government
	{".api.cognitive.microsoft.com", "azure.ai.openai"}, // the same, by region
	{".cognitiveservices.azure.com", "azure.ai.openai"}, // the same
	{".services.ai.azure.com", "azure.ai.inference"},    // learn.microsoft.com/azure/ai-foundry/model-inference
	{".inference.ai.azure.com", "azure.ai.inference"},   // the same, serverless deployments
	{"api.groq.com", "groq"},                            // console.groq.com/docs/openai
	{"api.deepseek.com", "deepseek"},                    // api-docs.deepseek.com
	{"codestral.mistral.ai", "mistral_ai"},              // docs.mistral.ai, code completion
	{"api.mistral.ai", "mistral_ai"},                    // docs.mistral.ai/api
	{"api.eu.mistral.ai", "mistral_ai"},                 // docs.mistral.ai, regional inference
	{"api.us.mistral.ai", "mistral_ai"},                 // the same
	{"api.x.ai", "x_ai"},                                // docs.x.ai/docs/api-reference
	{".api.x.ai", "x_ai"},                               // docs.x.ai/developers/regions
	{"api.perplexity.ai", "perplexity"},                 // docs.perplexity.ai
	{"api.moonshot.ai", "moonshot_ai"},                  // platform.moonshot.ai/docs
	{"api.moonshot.cn", "moonshot_ai"},                  // platform.moonshot.cn/docs
	{"api.cohere.com", "cohere"},                        // docs.cohere.com/docs/compatibility-api
	{"api.cohere.ai", "cohere"},                         // the same
	{"api.anthropic.com", "anthropic"},                  // docs.anthropic.com/en/api/openai-sdk
	{"generativelanguage.googleapis.com", "gcp.gemini"}, // ai.google.dev/gemini-api/docs/openai
	{"aiplatform.googleapis.com", "gcp.vertex_ai"},      // cloud.google.com/vertex-ai docs, also with a region before
	{".ml.cloud.ibm.com", "ibm.watsonx.ai"},             // cloud.ibm.com/apidocs/watsonx-ai
}

// isHost reports whether a host is the one named, or, of a name that begins with
// a dot or stands behind a region and a hyphen, ends in it.
func isHost(host, name string) bool {
	n := len(name)
	if len(host) < n || !equalFold(host[len(host)-n:], name) {
		return false
	}
	return len(host) == n || name[0] == '.' || name == "aiplatform.googleapis.com" && host[len(host)-n-1] == '-'
}

// providerOf tells the provider by the host of a URL, with its port if it has one.
func providerOf(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	host = strings.TrimSuffix(host, ".")
	if len(host) > len("bedrock") && equalFold(host[:len("bedrock")], "bedrock") {
		// docs.aws.amazon.com/bedrock: bedrock-runtime.REGION.amazonaws.com, and
		// bedrock-mantle.REGION.api.aws
		for _, end := range [...]string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"} {
			if len(host) > len(end) && equalFold(host[len(host)-len(end):], end) {
				return "aws.bedrock"
			}
		}
	}
	for i := range hosts {
		if isHost(host, hosts[i].end) {
			return hosts[i].provider
		}
	}
	return "openai"
}
