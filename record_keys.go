// SPDX-License-Identifier: Apache-2.0

package tacho

// The keys of the record as JSON.

type recordJSON struct {
	Operation     string   `json:"operation,omitempty"`
	API           string   `json:"api,omitempty"`
	Provider      string   `json:"provider,omitempty"`
	Server        string   `json:"server,omitempty"`
	RequestModel  string   `json:"request_model,omitempty"`
	ResponseModel string   `json:"response_model,omitempty"`
	ResponseID    string   `json:"response_id,omitempty"`
	Conversation  string   `json:"conversation_id,omitempty"`
	Stream        bool     `json:"stream"`
	Attempt       int      `json:"attempt"`
	Attempts      int      `json:"attempts"`
	AttemptList   []tryKey `json:"attempt_list,omitempty"`
	Redirects     int      `json:"redirects,omitempty"`
	Outcome       string   `json:"outcome,omitempty"`
	Status        int      `json:"status,omitempty"`
	Error         *errKey  `json:"error,omitempty"`
	Start         string   `json:"start"`

	Phases *phasesKey `json:"phases,omitempty"`
	Conn   *connKey   `json:"conn,omitempty"`

	TTFB         *float64 `json:"ttfb,omitempty"`
	TTFC         *float64 `json:"ttfc,omitempty"`
	TTFT         *float64 `json:"ttft,omitempty"`
	TTFO         *float64 `json:"ttfo,omitempty"`
	TTLT         *float64 `json:"ttlt,omitempty"`
	Duration     *float64 `json:"duration,omitempty"`
	NetworkWait  *float64 `json:"network_wait,omitempty"`
	ConsumerWait *float64 `json:"consumer_wait,omitempty"`
	Bound        string   `json:"bound,omitempty"`
	Buffered     bool     `json:"buffered,omitempty"`

	FirstChannel string   `json:"first_channel,omitempty"`
	Events       *int     `json:"events,omitempty"`
	OutputEvents *int     `json:"output_events,omitempty"`
	FirstOutput  *int     `json:"first_output_event,omitempty"`
	FirstVisible *int     `json:"first_visible_event,omitempty"`
	DoneSeen     *bool    `json:"done_seen,omitempty"`
	Terminated   string   `json:"terminated,omitempty"`
	Gaps         *gapsKey `json:"gaps,omitempty"`
	TBT          *tbtKey  `json:"tbt,omitempty"`
	TPOT         *float64 `json:"tpot,omitempty"`
	TPS          *float64 `json:"tokens_per_second,omitempty"`
	Streamed     *int64   `json:"streamed_tokens,omitempty"`

	Usage       *usageKey   `json:"usage,omitempty"`
	UsageSource string      `json:"usage_source,omitempty"`
	Counted     *countedKey `json:"counted,omitempty"`
	Drift       *driftKey   `json:"token_drift,omitempty"`
	Finish      []*string   `json:"finish_reasons,omitempty"`
	TextChars   *int64      `json:"text_chars,omitempty"`
	Reasoning   *int64      `json:"reasoning_chars,omitempty"`
	ToolCalls   *int        `json:"tool_call_count,omitempty"`

	Text    string    `json:"text,omitempty"`
	Thought string    `json:"reasoning,omitempty"`
	Calls   []callKey `json:"tool_calls,omitempty"`

	RateLimit    *limitsKey         `json:"ratelimit,omitempty"`
	ServerTiming map[string]float64 `json:"server_timing,omitempty"`
	Request      *requestKey        `json:"request,omitempty"`
	Labels       map[string]string  `json:"labels,omitempty"`
}

// tryKey is an attempt after the first, or before the last: all of them, where
// there are two or more.
type tryKey struct {
	Start    float64 `json:"start"`
	Wait     float64 `json:"wait"`
	Duration float64 `json:"duration"`
	Status   int     `json:"status,omitempty"`
	Error    string  `json:"error,omitempty"`
}

type callKey struct {
	Index     int    `json:"index"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type errKey struct {
	Type      string `json:"type,omitempty"`
	Code      string `json:"code,omitempty"`
	MidStream bool   `json:"mid_stream"`
}

type phasesKey struct {
	DNS     *float64 `json:"dns,omitempty"`
	Connect *float64 `json:"connect,omitempty"`
	TLS     *float64 `json:"tls,omitempty"`
	Send    *float64 `json:"send,omitempty"`
	Wait    *float64 `json:"wait,omitempty"`
}

type connKey struct {
	Reused      *bool    `json:"reused,omitempty"`
	Protocol    string   `json:"protocol,omitempty"`
	Remote      string   `json:"remote,omitempty"`
	RTT         *float64 `json:"rtt,omitempty"`
	RTTVar      *float64 `json:"rtt_var,omitempty"`
	Retransmits *int64   `json:"retransmits,omitempty"`
}

type gapsKey struct {
	Count  int      `json:"count"`
	Min    float64  `json:"min"`
	Mean   float64  `json:"mean"`
	StdDev *float64 `json:"stddev,omitempty"`
	Max    float64  `json:"max"`
}

type tbtKey struct {
	Mean   float64 `json:"mean"`
	Tokens string  `json:"tokens"`
}

type usageKey struct {
	Input      *int64 `json:"input_tokens,omitempty"`
	Output     *int64 `json:"output_tokens,omitempty"`
	CacheRead  *int64 `json:"cache_read_tokens,omitempty"`
	CacheWrite *int64 `json:"cache_write_tokens,omitempty"`
	Reasoning  *int64 `json:"reasoning_tokens,omitempty"`
}

type countedKey struct {
	Input     *int64 `json:"input_tokens,omitempty"`
	Output    int64  `json:"output_tokens"`
	Reasoning int64  `json:"reasoning_tokens"`
	First     int64  `json:"first_output_tokens,omitempty"`
	Guess     bool   `json:"guess,omitempty"`
}

type driftKey struct {
	Input  *int64 `json:"input_tokens,omitempty"`
	Output *int64 `json:"output_tokens,omitempty"`
}

type limitsKey struct {
	LimitRequests     *int64   `json:"limit_requests,omitempty"`
	RemainingRequests *int64   `json:"remaining_requests,omitempty"`
	ResetRequests     *float64 `json:"reset_requests,omitempty"`
	LimitTokens       *int64   `json:"limit_tokens,omitempty"`
	RemainingTokens   *int64   `json:"remaining_tokens,omitempty"`
	ResetTokens       *float64 `json:"reset_tokens,omitempty"`
	RetryAfter        *float64 `json:"retry_after,omitempty"`
}

type requestKey struct {
	N            *int64   `json:"n,omitempty"`
	MaxTokens    *int64   `json:"max_tokens,omitempty"`
	Temperature  *float64 `json:"temperature,omitempty"`
	TopP         *float64 `json:"top_p,omitempty"`
	HasTools     bool     `json:"has_tools"`
	IncludeUsage bool     `json:"include_usage"`
	MessageCount *int64   `json:"message_count,omitempty"`
}
