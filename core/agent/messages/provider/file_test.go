package provider

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// withFile returns a registry whose data directory contains this file.
func withFile(t *testing.T, text string, env map[string]string) *Registry {
	t.Helper()
	r := registry(t, env)
	testkit.Must(t, r.o.Dir.Write(File, []byte(text)))
	return r
}

const mine = `local:
  base_url: http://127.0.0.1:11434/v1/
  models:
    - name: qwen3:8b
      aliases: [small]
      window: 65_536
      images: true
    - llama
gate:
  base-url: https://gate.example
  key: GATE_KEY
  auth: bearer
  models:
    - {name: Big-1, like: sonnet, price: [1, 2, 0.1, 1.25]}
`

func TestTheUsersProvidersAreFoundWithWhatTheyCan(t *testing.T) {
	r := withFile(t, mine, map[string]string{"GATE_KEY": "gate-secret"})
	if problems := r.Problems(); len(problems) > 0 {
		t.Fatal(problems)
	}
	p, m, err := r.Find("small")
	if err != nil || p.BaseURL != "http://127.0.0.1:11434" || m.FullName() != "local/qwen3:8b" || m.Window != 65536 || !m.Images || !m.Free || p.Betas {
		t.Errorf("%+v %+v %v", p, m, err)
	}
	if _, m, _ := r.Find("haiku"); m.Name != "qwen3:8b" {
		t.Errorf("without Anthropic haiku is %s", m.Name)
	}
	p, m, err = r.Find("gate/big-1")
	if err != nil || m.Name != "Big-1" || m.Thinking.Off != "between_tools" || !p.Bearer || p.Key.Reveal() != "gate-secret" || m.Price.Output != 2 {
		t.Errorf("%+v %+v %v", p, m, err)
	}
	used := agent.Usage{InputTokens: 1e6}
	if big, small, other := r.Prices().Cost("gate/Big-1", used), r.Prices().Cost("local/llama", used), r.Prices().Cost("local/unnamed", used); big != 1 || small != 0 || other != 0 {
		t.Errorf("they cost %v, %v and %v", big, small, other)
	}
	if _, m, err := r.Find("gate/other"); err != nil || m.Name != "other" || m.Free {
		t.Errorf("%+v %v", m, err)
	}
}

func TestTheFileIsReadAnewWhenItWasSaved(t *testing.T) {
	r := withFile(t, mine, nil)
	if _, _, err := r.Find("local/llama"); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, r.o.Dir.Write(File, []byte(strings.ReplaceAll(mine, "local:", "home:"))))
	if _, m, err := r.Find("home/small"); err != nil || m.Name != "qwen3:8b" {
		t.Errorf("%+v %v", m, err)
	}
}

func TestWhatIsWrongIsNamedWithItsPlaceAndTheRestCounts(t *testing.T) {
	for _, c := range []struct {
		text, line, want string
		still            string // models that are still available
	}{
		{"local:\n  models: [a]\n", "1", "base-url is missing", ""},
		{"Local: x\n" + mine, "1", "not a valid provider name", "small"},
		{"local:\n  base-url: ftp://x\n  models: [a]\n", "2", "local.base-url: write an address", ""},
		{"local:\n  base-url: http://u:pw@x\n  models: [a]\n", "2", "without a name", ""},
		{"far:\n  base-url: http://far.example\n  key: K\n  models: [a]\n", "1", "unencrypted", ""},
		{"far:\n  base-url: https://far.example\n  key: sk-ant-oops\n  models: [a]\n", "3", "name of a variable", ""},
		{"far:\n  base-url: https://far.example\n  key: NOT_SET\n  models: [a]\n", "1", "NOT_SET is not set", ""},
		{"local:\n  base-url: http://127.0.0.1:1\n  models:\n    - {name: a, window: many}\n    - b\n", "4", "local.models.window: write a whole number", "local/b"},
		{"local:\n  base-url: http://127.0.0.1:1\n  modles: [a]\n  models: [b]\n", "3", `unknown key "modles"`, "local/b"},
		{"local:\n  base-url: http://127.0.0.1:1\n  models:\n    - {name: a, price: 1 2}\n    - {name: b, window: 2048, max-output: 4096}\n    - c\n", "4", "not a price", "local/c"},
		{"local:\n  base-url: http://127.0.0.1:1\n  models:\n    - {name: a, context-editing: x}\n", "4", `unknown key "context-editing"`, "local/a"},
		{"local:\n  base-url: http://127.0.0.1:1\n  batches: true\n  models: [a]\n", "3", "local.batches was removed", "local/a"},
		{"local:\n  base-url: http://127.0.0.1:1\n  models: a\n", "3", "models must be a list", ""},
		{"local: [\n", "1", "", ""},
	} {
		r := withFile(t, c.text, nil)
		problems := r.Problems()
		if len(problems) == 0 || fmt.Sprint(problems[0].Line) != c.line || !strings.Contains(problems[0].Message, c.want) || problems[0].File != File {
			t.Errorf("%q: %+v, want line %s: %s", c.text, problems, c.line, c.want)
		}
		if _, _, err := r.Find(c.still); c.still != "" && err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if c.still == "" && r.Ready() == nil {
			t.Errorf("%q: somebody can be asked", c.text)
		}
		if text := fmt.Sprint(problems, r.Ready()); strings.Contains(text, "sk-ant-oops") || strings.Contains(text, "pw@") {
			t.Errorf("a secret is told: %s", text)
		}
	}
}

func TestAKeysFileIsForItsOwnerAloneAndOutOfTheAgentsSight(t *testing.T) {
	home := t.TempDir()
	text := "far:\n  base-url: https://far.example\n  key-file: ~/key\n  models: [a]\n"
	env := map[string]string{"HOME": home}
	path := filepath.Join(home, "key")
	var hidden []string
	look := func(mode os.FileMode, content string) string {
		testkit.Must(t, errorOf(os.WriteFile(path, []byte(content), mode), os.Chmod(path, mode)))
		r := withFile(t, text, env)
		r.o.Hide = func(s string) { hidden = append(hidden, s) }
		if err := r.Ready(); err != nil {
			return err.Error()
		}
		return r.Providers()[0].Key.Reveal()
	}
	if got := look(0o600, "far-secret\n"); got != "far-secret" || !slices.Contains(hidden, "far-secret") {
		t.Errorf("%s, hidden %v", got, hidden)
	}
	if got := look(0o644, "far-secret\n"); !strings.Contains(got, "set its mode to 600") || strings.Contains(got, "far-secret") {
		t.Error(got)
	}
	if got := look(0o600, "two words\n"); !strings.Contains(got, "only the key") {
		t.Error(got)
	}
	testkit.Must(t, os.Remove(path))
	if got := withFile(t, text, env).Ready(); got == nil || !strings.Contains(got.Error(), "cannot be read") {
		t.Error(got)
	}
	d := storetest.Dir(t)
	r := New(Options{Dir: d, Getenv: func(string) string { return "" }})
	testkit.Must(t, errorOf(d.Write("key", []byte("far-secret")), d.Write(File, []byte(strings.ReplaceAll(text, "~/key", d.Path("key"))))))
	if got := r.Ready(); got == nil || !strings.Contains(got.Error(), "data directory") {
		t.Error(got)
	}
}

func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestAKeyFollowsNoRedirect(t *testing.T) {
	testkit.Alone(t)
	reached := false
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer thief.Close()
	server := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client := http.Client{CheckRedirect: CheckRedirect}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
	testkit.Must(t, err)
	Provider{Key: "secret"}.Authorize(q.Header)
	res, err := client.Do(q)
	if err == nil {
		_ = res.Body.Close()
	}
	if err == nil || reached || strings.Contains(err.Error(), "secret") {
		t.Errorf("it went there (%v): %v", reached, err)
	}
}

func FuzzAProvidersFileNeverBreaks(f *testing.F) {
	f.Add([]byte(mine))
	f.Add([]byte("a:\n  base-url: https://x\n  models: [{name: b, like: opus, efforts: [c]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range parse(data).entries {
			if e.BaseURL == "" || e.Name == "" || slices.ContainsFunc(e.Models, func(m Model) bool { return m.Name == "" || m.MaxOutput >= m.Window }) {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestOllamaIsFoundOnThisMachineOnly(t *testing.T) {
	testkit.Alone(t)
	url := serving(t, map[string]string{"/v1/models": "{}", "/api/tags": `{"models":[{"name":"qwen3:8b"},{"name":"bad name"},{"name":"llama3"}]}`})
	if s := Local(t.Context(), strings.TrimPrefix(url, "http://")); s == nil || names1(s.Models) != "qwen3:8b llama3" || s.Models[0].Known {
		t.Fatalf("%+v", s)
	}
	for _, host := range []string{"http://ollama.example:11434", "0.0.0.0:1", "127.0.0.1:1"} {
		if s := Local(t.Context(), host); s != nil {
			t.Errorf("%s: %+v", host, s)
		}
	}
}

func TestAServerIsAskedWhetherItTakesTheKey(t *testing.T) {
	testkit.Alone(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("x-api-key") != "right-key" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	if err := (Provider{BaseURL: server.URL, Key: "right-key"}).Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := (Provider{BaseURL: server.URL, Key: "wrong-key"}).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "refused the key") || strings.Contains(err.Error(), "wrong-key") {
		t.Error(err)
	}
	server.Close()
	if err := (Provider{BaseURL: server.URL}).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "start it") {
		t.Error(err)
	}
}
