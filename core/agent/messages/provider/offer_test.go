package provider

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/base/testkit"
)

// serving answers each path with a text.
func serving(t *testing.T, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func names1(list []Offer) string {
	var out []string
	for _, o := range list {
		out = append(out, o.Name)
	}
	return strings.Join(out, " ")
}

// E1: the first name of the list was taken, even of a model that cannot chat.
func TestOllamasModelsAreListedWithWhatTheyCanDoAndTheBestComeFirst(t *testing.T) {
	testkit.Alone(t)
	server := dialecttest.Start(t, dialecttest.Options{Models: []dialecttest.Model{
		{Name: "nomic-embed-text:latest", Can: []string{"embedding"}, Window: 2048},
		{Name: "gemma3:4b", Can: []string{"completion", "vision"}, Window: 131_072, Size: 3 << 30},
		{Name: "qwen3:8b", Can: []string{"completion", "tools", "thinking"}, Window: 40_960, Size: 5 << 30},
	}})
	s := Local(t.Context(), server.URL)
	if s == nil || s.Product != "Ollama" || names1(s.Models) != "qwen3:8b gemma3:4b" || fmt.Sprint(s.Mute) != "[nomic-embed-text:latest]" {
		t.Fatalf("%+v", s)
	}
	for i, want := range []string{
		"8.2B, 5.0 GB, up to 40,960 tokens, calls tools, thinks",
		"8.2B, 3.0 GB, up to 131,072 tokens, calls no tools: it can talk, but sets no reminder and reads no file, sees pictures",
	} {
		if got := s.Models[i].String(); got != want {
			t.Errorf("%s is %q, want %q", s.Models[i].Name, got, want)
		}
	}
	// 16,384 tokens × 36 layers × 8 heads × 128 × 2 (keys, values) × 2 bytes
	if got := s.Meaning(s.Models[0]); !strings.Contains(got, "16,384 tokens") || !strings.Contains(got, "2.2 GB of memory") {
		t.Errorf("the choice means %q", got)
	}
	if got := s.Meaning(s.Models[1]); !strings.Contains(got, "can only talk") {
		t.Errorf("the choice means %q", got)
	}
	r := withFile(t, string(s.YAML(s.Models[1])), nil)
	p, m, err := r.Find("")
	if err != nil || len(r.Problems()) > 0 || p.API != dialect.Ollama || m.Name != "gemma3:4b" || !m.NoTools || !m.Images || m.Window != 16_384 || m.MaxOutput != 4_096 {
		t.Errorf("the file has %+v, %+v (%v, %v)", p, m, err, r.Problems())
	}
	if _, m, err = r.Find("local/qwen3:8b"); err != nil || m.NoTools || m.Thinking.Style != BudgetThinking {
		t.Errorf("the other one is %+v, %v", m, err)
	}
}

// E1: each kind of server says in its own way which context a model really has.
func TestTheContextOfOtherServersIsFound(t *testing.T) {
	testkit.Alone(t)
	for name, c := range map[string]struct {
		pages map[string]string
		says  string // names, windows, tools
		mute  string
	}{
		"LM Studio": {
			map[string]string{"/api/v0/models": `{"data":[
				{"id":"qwen2-vl-7b","type":"vlm","state":"not-loaded","max_context_length":32768},
				{"id":"devstral","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":8192,"capabilities":["tool_use"]},
				{"id":"text-embedding-nomic","type":"embeddings","max_context_length":2048}]}`},
			"devstral 8192 true qwen2-vl-7b 4096 false", "[text-embedding-nomic]",
		},
		"llama.cpp": {
			map[string]string{
				"/v1/models": `{"object":"list","data":[{"id":"model.gguf","object":"model","owned_by":"llamacpp","meta":{"n_ctx_train":131072,"size":4920734976}}]}`,
				"/props":     `{"default_generation_settings":{"n_ctx":16384},"total_slots":1}`,
			},
			"model.gguf 16384 false", "[]",
		},
		"vLLM":       {map[string]string{"/v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","owned_by":"vllm","max_model_len":40960}]}`}, "Qwen/Qwen3-8B 40960 false", "[]"},
		"OpenRouter": {map[string]string{"/v1/models": `{"data":[{"id":"a/b","context_length":200000,"supported_parameters":["tools","reasoning"],"architecture":{"input_modalities":["text","image"]}}]}`}, "a/b 200000 true", "[]"},
		"plain":      {map[string]string{"/v1/models": `{"object":"list","data":[{"id":"m","object":"model"},{"id":"bge-m3"}]}`}, "m 4096 false", "[bge-m3]"},
	} {
		s, err := Ask(t.Context(), Provider{BaseURL: serving(t, c.pages)})
		var got []string
		for _, o := range s.Models {
			got = append(got, fmt.Sprint(o.Name, " ", o.window(s.API), " ", o.Tools))
		}
		if err != nil || strings.Join(got, " ") != c.says || fmt.Sprint(s.Mute) != c.mute {
			t.Errorf("%s: %s, %v, %v", name, strings.Join(got, " "), s.Mute, err)
		}
	}
}

func TestAServerThatListsNothingUsableGetsASentence(t *testing.T) {
	testkit.Alone(t)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"data":[`)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(`{"id":"a"},`, 10_000)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	for name, c := range map[string]struct{ url, says string }{
		"nothing":   {serving(t, map[string]string{"/v1/models": `{"data":[]}`}), "has no model that can chat"},
		"no models": {serving(t, map[string]string{"/api/tags": `{"models":[]}`}), "has no model that can chat"},
		"embedding": {serving(t, map[string]string{"/v1/models": `{"data":[{"id":"nomic-embed-text"}]}`}), "has no model that can chat"},
		"HTML":      {serving(t, map[string]string{"/v1/models": `<!doctype html><h1>Hotel`}), "no list of models (<!doctype html>"},
		"null":      {serving(t, map[string]string{"/v1/models": `null`}), "no list of models"},
		"endless":   {endless.URL, "more than 8 MB"},
		"away":      {"http://127.0.0.1:1", "does not answer"},
	} {
		if s, err := Ask(t.Context(), Provider{BaseURL: c.url}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestAThousandModelsAreAskedAboutInPart(t *testing.T) {
	testkit.Alone(t)
	var list []dialecttest.Model
	for i := range 1000 {
		list = append(list, dialecttest.Model{Name: fmt.Sprintf("m%d", i), Can: []string{"completion"}, Window: 8192})
	}
	list[7].Can = append(list[7].Can, "tools")
	s := Local(t.Context(), dialecttest.Start(t, dialecttest.Options{Models: list}).URL)
	if s == nil || len(s.Models) != 1000 || s.Models[0].Name != "m7" {
		t.Fatalf("%+v", s)
	}
	r := withFile(t, string(s.YAML(s.Models[999])), nil)
	if p := r.Providers(); len(p) != 1 || len(p[0].Models) != 1+mostKept || len(r.Problems()) > 0 {
		t.Errorf("%d models in the file, %v", len(p[0].Models), r.Problems())
	}
}

// E7: doctor counted the models of the file as the server's.
func TestTheFileIsComparedWithTheServer(t *testing.T) {
	testkit.Alone(t)
	url := serving(t, map[string]string{"/api/v0/models": `{"data":[{"id":"a","type":"llm","loaded_context_length":4096,"capabilities":[]},{"id":"b","type":"llm","loaded_context_length":40960}]}`})
	p := Provider{Name: "local", BaseURL: url, Models: []Model{{Name: "a", Window: 32_768}, {Name: "b", Window: 32_768}, {Name: "c", Window: 32_768}}}
	s, err := Ask(t.Context(), p)
	testkit.Must(t, err)
	got := strings.Join(s.Compare(p), "\n")
	for _, want := range []string{"a has a window of 32,768 tokens here, and the server runs it with 4,096", "a calls no tools", "no model c"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Count(got, "\n") != 2 {
		t.Errorf("the warnings are\n%s", got)
	}
}

func TestTheAddressOfOllamaIsUnderstoodAsOllamaItselfDoes(t *testing.T) {
	for host, want := range map[string]string{
		"": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434", "0.0.0.0:8080": "http://127.0.0.1:8080", ":9000": "http://127.0.0.1:9000",
		"192.168.1.7": "http://192.168.1.7:11434", "http://nas.local:11434/": "http://nas.local:11434", "https://ollama.example.org": "https://ollama.example.org",
	} {
		if got := ollamaAddress(host); got != want {
			t.Errorf("%q is %s, want %s", host, got, want)
		}
	}
}

// E1: what can be chosen is listed with what the server says of it, or the file if the server is silent: first what calls
// tools, and nothing that cannot chat.
func TestTheChoicesAreTheModelsOfTheFileAsTheirServersDescribeThem(t *testing.T) {
	testkit.Alone(t)
	server := dialecttest.Start(t, dialecttest.Options{Models: []dialecttest.Model{
		{Name: "qwen3:8b", Can: []string{"completion", "tools", "thinking"}, Window: 40_960, Size: 5 << 30},
		{Name: "gemma3:4b", Can: []string{"completion"}, Window: 40_960},
		{Name: "vectors", Can: []string{"embedding"}, Window: 2048},
	}})
	r := withFile(t, "local:\n  base-url: "+server.URL+"\n  api: ollama\n  models: [gemma3:4b, vectors, bge-m3, {name: \"qwen3:8b\", window: 16384}, gone]\n"+
		"far:\n  base-url: https://models.example\n  models: [{name: wise, window: 128000, tools: false}]\n", nil)
	want := []Choice{
		{
			"local/qwen3:8b", "8.2B, 5.0 GB, up to 40,960 tokens, runs with 16,384 now, calls tools, thinks",
			"local/qwen3:8b will run with 16,384 tokens of context, for which the server needs about 2.2 GB of memory beside the model.",
		},
		{"local/gone", "up to 32,768 tokens, calls tools", "local/gone will run with 32,768 tokens of context."},
		{
			"local/gemma3:4b", "8.2B, up to 40,960 tokens, runs with 32,768 now, calls no tools: it can talk, but sets no reminder and reads no file",
			"local/gemma3:4b will run with 32,768 tokens of context, for which the server needs about 4.5 GB of memory beside the model; without tools it can only talk.",
		},
		{
			"far/wise", "up to 128,000 tokens, calls no tools: it can talk, but sets no reminder and reads no file",
			"far/wise is used with 128,000 tokens of context: as many as the server has for it, as far as it says so; without tools it can only talk.",
		},
	}
	if got := r.Choices(t.Context()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
