package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// registry returns one with an empty data directory and this environment.
func registry(t *testing.T, env map[string]string) *Registry {
	t.Helper()
	d := storetest.Dir(t)
	return New(Options{Dir: d, Getenv: func(name string) string { return env[name] }})
}

func TestAModelIsFoundByEveryNameOfIts(t *testing.T) {
	r := registry(t, map[string]string{varKey: "sk-secret"})
	for name, want := range map[string]string{
		"": "anthropic/claude-opus-5-5", "haiku": "anthropic/claude-haiku-5-5", "claude-sonnet-5-5": "anthropic/claude-sonnet-5-5",
		"anthropic/fable": "anthropic/claude-fable-5-2", "anthropic/claude-next": "anthropic/claude-next",
	} {
		if _, m, err := r.Find(name); err != nil || m.FullName() != want {
			t.Errorf("%q is %s (%v), want %s", name, m.FullName(), err, want)
		}
	}
	if _, _, err := r.Find("local/qwen3"); err == nil || !strings.Contains(err.Error(), "how to add others") {
		t.Errorf("an unknown model: %v", err)
	}
}

func TestAKeyTravelsInItsHeaderAndNowhereElse(t *testing.T) {
	p, _, err := registry(t, map[string]string{varKey: "sk-very-secret", varBaseURL: "http://127.0.0.1:9/"}).Find("opus")
	if err != nil || p.BaseURL != "http://127.0.0.1:9" {
		t.Fatal(p.BaseURL, err)
	}
	h := http.Header{}
	p.Authorize(h)
	if h.Get("x-api-key") != "sk-very-secret" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
	if s := fmt.Sprintf("%v %+v %#v", p, p, p); strings.Contains(s, "very-secret") {
		t.Error("the key can be printed")
	}
	p, _, _ = registry(t, map[string]string{varToken: "bearer-secret"}).Find("opus")
	p.Authorize(h)
	if h.Get("Authorization") != "Bearer bearer-secret" {
		t.Errorf("headers %v", h)
	}
}

func TestALongPromptCostsWhatLongPromptsCost(t *testing.T) {
	_, m, err := registry(t, map[string]string{varKey: "sk-secret"}).Find("haiku")
	testkit.Must(t, err)
	short := m.Cost(agent.Usage{InputTokens: 50_000, CacheWrite: 50_000, CacheHour: 50_000}).CostUSD
	long := m.Cost(agent.Usage{InputTokens: 50_000, CacheRead: 50_001}).CostUSD
	if fmt.Sprintf("%.6f %.6f", short, long) != "0.015000 0.027500" {
		t.Errorf("%.6f and %.6f", short, long)
	}
}

// M11: a file with a local model silently took over the conversation.
func TestALocalModelBesideAnthropicDoesNotTakeTheConversationOver(t *testing.T) {
	r := registry(t, map[string]string{varKey: "sk-secret"})
	local := "local:\n  base-url: http://127.0.0.1:11434\n  models:\n    - name: qwen3\n"
	storetest.Put(t, r.o.Dir, File, local)
	for name, want := range map[string]string{"": "anthropic/claude-opus-5-5", "haiku": "anthropic/claude-haiku-5-5", "local/qwen3": "local/qwen3"} {
		if _, m, err := r.Find(name); err != nil || m.FullName() != want {
			t.Errorf("%q is %s (%v), want %s", name, m.FullName(), err, want)
		}
	}
	alone := registry(t, nil)
	storetest.Put(t, alone.o.Dir, File, local)
	if _, m, err := alone.Find(""); err != nil || m.FullName() != "local/qwen3" {
		t.Errorf("without a key it is %s (%v)", m.FullName(), err)
	}
}
