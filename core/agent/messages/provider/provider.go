// Package provider knows who speaks the Messages API, and what each of their
// models can: where to send a request, with which key, how thinking is asked for,
// how much fits into the window, and what it costs. The built-in table is
// Anthropic's; the user's own are in providers.yaml. It must not know sessions,
// requests or tools.
package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
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

// Found is a server on this machine that the user need only agree to.
type Found struct {
	Address string
	Names   []string // of its models
}

// Ollama looks whether Ollama answers on this machine: at the address that OLLAMA_HOST
// names, else at its usual one. Nil is that it does not.
func Ollama(ctx context.Context, host string) *Found {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	address := strings.TrimRight(cmp.Or(host, "127.0.0.1:11434"), "/")
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if p := (Provider{BaseURL: address}); !p.private() || !p.nearby() {
		return nil
	}
	var said struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := get(ctx, Provider{BaseURL: address}, "/api/tags", &said); err != nil {
		return nil
	}
	f := &Found{Address: address}
	for _, m := range said.Models {
		if name := clean.Line(m.Name); name == m.Name && name != "" && !strings.ContainsAny(name, " \"'#") {
			f.Names = append(f.Names, name)
		}
	}
	return f
}

// YAML is what providers.yaml says of it.
func (f Found) YAML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Servers of the Messages API. All keys: ollim-bot help providers\nlocal:\n  base-url: %s\n  models:\n", f.Address)
	for _, name := range f.Names {
		fmt.Fprintf(&b, "    - name: %q\n", name)
	}
	return []byte(b.String())
}

// Check asks a server whether it is there and takes the key. Many answer only that
// they know no such page, which is good enough. The error is a sentence.
func (p Provider) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return get(ctx, p, "/v1/models", nil)
}

// get reads a page of the server. Without a place for it only a refused key is an
// error.
func get(ctx context.Context, p Provider, path string, to any) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, p.BaseURL+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", p.Name, err)
	}
	p.Authorize(q.Header)
	client := http.Client{CheckRedirect: CheckRedirect}
	defer client.CloseIdleConnections()
	res, err := client.Do(q)
	if err != nil {
		return fmt.Errorf(textNotReached, p.BaseURL, clean.Cut(clean.Line(err.Error()), 200))
	}
	defer func() { _ = res.Body.Close() }() // only read
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return fmt.Errorf(textRefused, p.BaseURL, res.StatusCode)
	case to == nil:
		return nil
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf(textNotReached, p.BaseURL, res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(to); err != nil {
		return fmt.Errorf(textNotReached, p.BaseURL, err)
	}
	return nil
}
