// Package provider owns the table of servers and of their models: the address, the API and the key, how
// to ask for thinking, the size of the window, and the price. The built-in entries are Anthropic's;
// the user's are in providers.yaml. It also asks servers which models they have. It must not know
// sessions, requests or tools.
package provider

import (
	"net/http"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/money"
)

// Anthropic is the name of the built-in provider.
const Anthropic = "anthropic"

// Provider is a server of models. A copy shares no mutable state.
type Provider struct {
	// Name precedes the slash in "local/qwen3".
	Name string
	// BaseURL is the address to which the path of its API is appended, without a trailing slash.
	BaseURL string
	// API is the server's interface; empty means the Messages API.
	API dialect.API
	// Key is empty for a server that needs none. It cannot be printed.
	Key config.Secret
	// Bearer sends the key as "Authorization: Bearer" instead of "x-api-key".
	Bearer bool
	// Betas means that the server understands Anthropic's beta headers.
	Betas bool
	// Models are the known models; the first is the default.
	Models []Model
}

// Authorize sets the key and the protocol version in a request's headers.
func (p Provider) Authorize(h http.Header) {
	h.Set("anthropic-version", "2023-06-01")
	switch {
	case p.Key == "":
	case p.Bearer || p.API.Translated():
		h.Set("Authorization", "Bearer "+p.Key.Reveal())
	default:
		h.Set("x-api-key", p.Key.Reveal())
	}
}

// Model describes a model's abilities and price. The zero value of each ability is "none", which
// works with any server of the protocol.
type Model struct {
	// Provider is the name of the provider, Name the model's name on the wire:
	// "claude-haiku-5-5", "qwen3:8b".
	Provider, Name string
	// Aliases are its other names: "haiku".
	Aliases []string
	// Window is the maximum number of tokens of a request together with its answer, MaxOutput that
	// of an answer alone.
	Window, MaxOutput int
	// NoTools means that the model cannot call tools: it can only talk.
	NoTools  bool
	Thinking Thinking
	// Efforts are the accepted values of output_config.effort, lowest first. If there are none, the
	// field is left out.
	Efforts []string
	// Cache means that the server understands cache_control marks.
	Cache bool
	// SystemMessages means that messages with the role "system" may follow a user's message.
	SystemMessages bool
	// Images and PDFs mean that the model accepts such blocks.
	Images, PDFs bool
	// Compaction is the beta feature with which the server summarizes the history itself; empty if
	// it cannot.
	Compaction string
	// WebSearch is the type of the server's own search tool; empty if it has none.
	WebSearch string
	// Free means that the model costs nothing; otherwise Price is its price.
	Free  bool
	Price money.Price

	priced bool // the file sets a price
}

// Thinking describes how to ask a model to think.
type Thinking struct {
	Style ThinkingStyle
	// Off is the thinking.type that thinks least: "disabled", "between_tools" (only with
	// efforts up to "high"), or empty if the model always thinks.
	Off string
}

// ThinkingStyle is the form of a request's field "thinking".
type ThinkingStyle int

// The styles of thinking.
const (
	NoThinking       ThinkingStyle = iota // the field is left out
	BudgetThinking                        // {"type":"enabled","budget_tokens":N}
	AdaptiveThinking                      // {"type":"adaptive"}, the depth by effort
)

// Count is the usage of a request as servers of the protocol report it.
type Count struct {
	Input    int `json:"input_tokens"` // without tokens read from or written to the cache
	Output   int `json:"output_tokens"`
	Read     int `json:"cache_read_input_tokens"`
	Write    int `json:"cache_creation_input_tokens"`
	Creation struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// Usage converts the count, without a price.
func (c Count) Usage() agent.Usage {
	return agent.Usage{InputTokens: c.Input, OutputTokens: c.Output, CacheRead: c.Read, CacheWrite: c.Write, CacheHour: c.Creation.Hour}
}

// Cost adds the price to the usage of one request. If the model has two prices, the length of the
// prompt selects one.
func (m Model) Cost(u agent.Usage) agent.Usage {
	u.Free = m.Free
	if !m.Free {
		u.CostUSD = m.Price.Cost(u)
	}
	return u
}

// FullName returns the name with the provider: "local/qwen3".
func (m Model) FullName() string { return m.Provider + "/" + m.Name }

// The beta features and server tools of Anthropic's own API.
const (
	betaCompaction = "compact-2026-01-12"
	toolWebSearch  = "web_search_20260318"
)

// claudeModels returns Anthropic's models, the default first. Their prices are in core/work/money.
func claudeModels() []Model {
	effort := []string{"low", "medium", "high", "xhigh", "max"}
	list := []Model{
		{Name: "claude-opus-5-5", Aliases: []string{"opus"}},
		{Name: "claude-sonnet-5-5", Aliases: []string{"sonnet"}, Thinking: Thinking{Off: "between_tools"}},
		{Name: "claude-haiku-5-5", Aliases: []string{"haiku"}, Thinking: Thinking{Off: "disabled"}},
		{Name: "claude-fable-5-2", Aliases: []string{"fable"}},
	}
	for i := range list {
		m := &list[i]
		m.Provider, m.Window, m.MaxOutput = Anthropic, 1_000_000, 128_000
		m.Thinking.Style, m.Efforts = AdaptiveThinking, effort
		m.Cache, m.SystemMessages, m.Images, m.PDFs = true, true, true, true
		m.Compaction, m.WebSearch = betaCompaction, toolWebSearch
	}
	return list
}

// anthropic returns the built-in provider at an address; an empty address means Anthropic's own.
// Another server may not know Anthropic's betas.
func anthropic(address string, known bool) Provider {
	p := Provider{Name: Anthropic, BaseURL: "https://" + anthropicHost, Betas: known, Models: claudeModels()}
	if address = strings.TrimRight(address, "/"); address != "" && address != p.BaseURL {
		p.BaseURL, p.Betas = strings.TrimSuffix(address, "/v1"), false
	}
	return p
}

// model finds a model by its name or alias.
func (p Provider) model(name string) (Model, bool) {
	i := slices.IndexFunc(p.Models, func(m Model) bool {
		return strings.EqualFold(m.Name, name) || slices.ContainsFunc(m.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
	})
	if i < 0 {
		return Model{}, false
	}
	return p.Models[i], true
}
