// Package provider knows who speaks the Messages API, and what each of their
// models can: where to send a request, with which key, how thinking is asked for,
// how much fits into the window, and what it costs. The built-in table is
// Anthropic's; the user's own are in providers.yaml. It must not know sessions,
// requests or tools.
package provider

import (
	"net/http"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/money"
)

// Anthropic is the name of the provider that needs no file.
const Anthropic = "anthropic"

// Provider is a server of the Messages API. Copies share nothing that changes.
type Provider struct {
	// Name is what stands before the slash in "local/qwen3".
	Name string
	// BaseURL is where /v1/messages is appended; it has no slash at its end.
	BaseURL string
	// Key opens it; empty for a server that asks for none. It cannot be printed.
	Key config.Secret
	// Bearer says that the key travels as "Authorization: Bearer", else as "x-api-key".
	Bearer bool
	// Betas says that the server knows Anthropic's beta headers.
	Betas bool
	// Batches says that it takes message batches, at half the price.
	Batches bool
	// Models are those that it is known to have, the first its default.
	Models []Model
}

// Authorize puts the key and the version of the protocol into a request's headers.
func (p Provider) Authorize(h http.Header) {
	h.Set("anthropic-version", "2023-06-01")
	switch {
	case p.Key == "":
	case p.Bearer:
		h.Set("Authorization", "Bearer "+p.Key.Reveal())
	default:
		h.Set("x-api-key", p.Key.Reveal())
	}
}

// Model is what a model can and costs. The zero value of each ability is that it has
// none, which any server of the protocol can live with.
type Model struct {
	// Provider is the name of its provider, Name its own on the wire:
	// "claude-haiku-5-5", "qwen3:8b".
	Provider, Name string
	// Aliases are other names that it is asked for by: "haiku".
	Aliases []string
	// Window is how many tokens fit into a request with its answer, MaxOutput how many
	// it may answer.
	Window, MaxOutput int
	Thinking          Thinking
	// Efforts are what output_config.effort may say, the least first; none leaves it out.
	Efforts []string
	// Cache says that cache_control marks are understood.
	Cache bool
	// SystemMessages says that messages of the role "system" may follow a user's.
	SystemMessages bool
	// Images and PDFs say that such blocks are understood.
	Images, PDFs bool
	// Compaction and ContextEditing are the betas with which the server shortens the
	// history by itself; empty where it does not.
	Compaction, ContextEditing string
	// WebSearch is the type of the server's own tool; empty where there is none.
	WebSearch string
	// Free says that there is nothing to pay; else Price is what it costs.
	Free  bool
	Price money.Price

	priced bool // the file has said so
}

// Thinking is how a model is asked to think.
type Thinking struct {
	Style ThinkingStyle
	// Off is the thinking.type of as little as possible: "disabled", "between_tools"
	// (with efforts up to "high" only), or empty where it thinks in any case.
	Off string
}

// ThinkingStyle is what the field "thinking" of a request may say.
type ThinkingStyle int

// The styles of thinking.
const (
	NoThinking       ThinkingStyle = iota // the field is left out
	BudgetThinking                        // {"type":"enabled","budget_tokens":N}
	AdaptiveThinking                      // {"type":"adaptive"}, the depth by effort
)

// Count is what a request has used, as servers of the protocol tell it.
type Count struct {
	Input    int `json:"input_tokens"` // without what came from the cache or went there
	Output   int `json:"output_tokens"`
	Read     int `json:"cache_read_input_tokens"`
	Write    int `json:"cache_creation_input_tokens"`
	Creation struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// Usage is the same in the bot's words, without a price.
func (c Count) Usage() agent.Usage {
	return agent.Usage{InputTokens: c.Input, OutputTokens: c.Output, CacheRead: c.Read, CacheWrite: c.Write, CacheHour: c.Creation.Hour}
}

// Cost is a usage of one request with its price: the length of the prompt decides
// where there are two.
func (m Model) Cost(u agent.Usage) agent.Usage {
	u.Free = m.Free
	if !m.Free {
		u.CostUSD = m.Price.Cost(u)
	}
	return u
}

// FullName is the name by which one provider's model is asked for.
func (m Model) FullName() string { return m.Provider + "/" + m.Name }

// The beta features and server tools of Anthropic's own API.
const (
	betaCompaction     = "compact-2026-01-12"
	betaContextEditing = "context-management-2025-06-27"
	toolWebSearch      = "web_search_20260318"
)

// claudeModels are Anthropic's, the default first. Their prices are in core/work/money.
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
		m.Compaction, m.ContextEditing, m.WebSearch = betaCompaction, betaContextEditing, toolWebSearch
	}
	return list
}

// anthropic is the provider of that name at an address; empty is its own. Another
// server there need not know Anthropic's betas.
func anthropic(address string, known bool) Provider {
	p := Provider{Name: Anthropic, BaseURL: "https://" + anthropicHost, Betas: known, Batches: known, Models: claudeModels()}
	if address = strings.TrimRight(address, "/"); address != "" && address != p.BaseURL {
		p.BaseURL, p.Betas, p.Batches = strings.TrimSuffix(address, "/v1"), false, false
	}
	return p
}

// model is the model of that name or alias.
func (p Provider) model(name string) (Model, bool) {
	i := slices.IndexFunc(p.Models, func(m Model) bool {
		return strings.EqualFold(m.Name, name) || slices.ContainsFunc(m.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
	})
	if i < 0 {
		return Model{}, false
	}
	return p.Models[i], true
}
