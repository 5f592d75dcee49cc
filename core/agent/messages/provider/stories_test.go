package provider

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// A story has an environment, as NAME=value, and a file behind "| ", which the next "| " after a question replaces. Below a question are
// its answers; a single one is behind "=>". What says secret is in none of them, except where a key travels.
func TestTheFileOfProvidersIsUnderstoodAsItsStoriesSay(t *testing.T) {
	goldentest.Stories(t, "stories/file.txt", play)
}

// Here the story has a server, too, at @URL@.
func TestServersAreAskedAsTheirStoriesSay(t *testing.T) {
	testkit.Alone(t)
	goldentest.Stories(t, "stories/servers.txt", play)
}

// registry returns one with an empty data directory and this environment.
func registry(t *testing.T, env map[string]string) *Registry {
	t.Helper()
	return New(Options{Dir: storetest.Dir(t), Getenv: func(name string) string { return env[name] }})
}

// player plays a story.
type player struct {
	*Registry
	t      *testing.T
	env    map[string]string
	file   []string
	pages  map[string]string
	models []dialecttest.Model
	url    string
	server Server // that was asked last
	keys   []string
	out    []string
}

func play(t *testing.T, story string) string {
	p := &player{t: t, env: map[string]string{"HOME": t.TempDir()}, pages: map[string]string{}}
	p.Registry = registry(t, p.env)
	p.o.Hide = func(key string) { p.keys = append(p.keys, key) }
	asked := false
	for line := range strings.SplitSeq(story, "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		line, _, _ = strings.Cut(line, " => ")
		p.out = append(p.out, line)
		begun := len(p.out)
		filled := strings.NewReplacer("@URL@", p.url, "@DIR@", p.o.Dir.Root()).Replace(line)
		verb, rest, _ := strings.Cut(filled, " ")
		name, value, sets := strings.Cut(verb, "=")
		switch {
		case verb == "|":
			if asked {
				p.file = nil
			}
			asked, p.file = false, append(p.file, strings.ReplaceAll(rest, "⏎", "\n"))
			storetest.Put(t, p.o.Dir, File, strings.Join(p.file, "\n")+"\n")
		case sets:
			p.env[name] = value
		case verb != "":
			asked = true
			p.ask(verb, rest)
		}
		if len(p.out) == begun+1 { // a single answer is in the line itself
			p.out = append(p.out[:begun-1], line+" => "+strings.TrimSpace(p.out[begun]))
		}
	}
	return strings.Join(p.out, "\n")
}

// note adds an answer, which shows no key.
func (p *player) note(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), cmp.Or(p.url, "@URL@"), "@URL@")
	if strings.Contains(text, "secret") {
		p.t.Errorf("a key is shown: %s", text)
	}
	p.out = append(p.out, strings.TrimRight("  "+text, " "))
}

func (p *player) ask(verb, rest string) {
	failed := func(err error) bool {
		if err != nil {
			p.note("%v", err)
		}
		return err != nil
	}
	switch verb {
	case "keyfile": // MODE TEXT
		mode, text, _ := strings.Cut(rest, " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		testkit.Must(p.t, err)
		path := filepath.Join(p.env["HOME"], "key")
		testkit.Must(p.t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		testkit.Must(p.t, os.Chmod(path, os.FileMode(bits)))
	case "page", "endless": // PATH TEXT, or the text again and again
		path, text, _ := strings.Cut(rest, " ")
		p.pages[path] = text
		if verb == "endless" {
			p.pages[path+" again"] = text
		}
		p.serve()
	case "model": // of an Ollama: NAME WINDOW GB CAN…
		words := strings.Fields(rest)
		window, _ := strconv.Atoi(words[1])
		size, _ := strconv.ParseInt(words[2], 10, 64)
		p.models = append(p.models, dialecttest.Model{Name: words[0], Window: window, Size: size << 30, Can: words[3:]})
	case "ollama":
		p.url = dialecttest.Start(p.t, dialecttest.Options{Models: p.models}).URL
	case "find":
		of, m, err := p.Find(rest)
		if !failed(err) {
			p.note("%s at %s %s, %s", m.FullName(), of.BaseURL, cmp.Or(of.API, "messages"), about(of, m))
		}
	case "problems":
		for _, x := range p.Problems() {
			p.note("line %d, %v: %s", x.Line, x.Severity, x.Message)
		}
		p.note("usable: %s", strings.Join(p.Names(), " "))
	case "usable":
		p.note("%s", strings.Join(p.Names(), " "))
	case "keep": // this version of the file
		testkit.Must(p.t, p.o.Dir.KeepValid(File, []byte(strings.Join(p.file, "\n")+"\n")))
	case "ready":
		if !failed(p.Ready()) {
			p.note("ready")
		}
	case "cost":
		p.note("$%v", p.Prices().Cost(rest, agent.Usage{InputTokens: 1e6}))
	case "headers":
		of, _, err := p.Find(rest)
		testkit.Must(p.t, err)
		h := http.Header{}
		of.Authorize(h)
		p.out = append(p.out, fmt.Sprint("  ", h))
		p.note("printed as %v %+v %#v", of.Key, of.Key, of.Key)
	case "also": // hides keys, too, which may have been read already
		p.HideFrom(func(key string) { p.keys = append(p.keys, "also "+key) })
	case "hidden":
		p.out = append(p.out, "  "+strings.Join(p.keys, " "))
	case "transcriber":
		if got, err := p.Transcriber(); !failed(err) {
			p.note("%+v, free %v", got, got.Free())
		}
	default:
		p.askServer(verb, rest)
	}
}

func (p *player) askServer(verb, rest string) {
	ctx := p.t.Context()
	switch verb {
	case "local", "ask":
		var err error
		if verb == "ask" {
			p.server, err = Ask(ctx, Provider{BaseURL: rest})
		} else if s := Local(ctx, rest); s != nil {
			p.server = *s
		} else {
			err = fmt.Errorf("none")
		}
		if err != nil {
			p.note("%v", err)
			return
		}
		p.note("%s %s, mute %q", cmp.Or(p.server.Product, "a server"), p.server.API, p.server.Mute)
		for _, o := range p.server.Models[:min(3, len(p.server.Models))] {
			p.note("%s: %s", o.Name, o)
			p.note("  %s", p.server.Meaning(o))
		}
		if more := len(p.server.Models) - 3; more > 0 {
			p.note("and %d more", more)
		}
	case "yaml":
		o, _ := p.server.offer(rest)
		text := p.server.YAML(o)
		p.file = strings.Split(string(text), "\n")
		testkit.Must(p.t, p.o.Dir.Write(File, text))
		for _, line := range p.file[:min(len(p.file), 12)] {
			p.note("%s", line)
		}
	case "compare":
		for _, text := range p.server.Compare(p.Providers()[0]) {
			p.note("%s", text)
		}
	case "choices":
		for _, c := range p.Choices(ctx) {
			p.note("%s: %s", c.Name, c.About)
			p.note("  %s", c.Means)
		}
	case "check": // with the key of the environment
		if err := (Provider{BaseURL: rest, Key: p.Providers()[0].Key}).Check(ctx); err != nil {
			p.note("%v", err)
		} else {
			p.note("it takes the key")
		}
	default:
		p.t.Fatalf("no line begins with %s", verb)
	}
}

// about describes what a model can.
func about(of Provider, m Model) string {
	list := []string{fmt.Sprintf("window %d, answers %d", m.Window, m.MaxOutput)}
	for _, x := range []struct {
		is   bool
		what string
	}{
		{of.Bearer, "bearer"},
		{of.Betas, "betas"},
		{m.NoTools, "no tools"},
		{m.Images, "images"},
		{m.PDFs, "PDFs"},
		{m.Cache, "cache"},
		{m.SystemMessages, "system messages"},
		{m.Compaction != "", m.Compaction},
		{m.WebSearch != "", m.WebSearch},
		{m.Thinking != Thinking{}, fmt.Sprintf("thinks %v", m.Thinking)},
		{len(m.Efforts) > 0, fmt.Sprint(m.Efforts)},
		{m.Free, "free"},
		{!m.Free, fmt.Sprintf("$%v/$%v", m.Price.Input, m.Price.Output)},
	} {
		if x.is {
			list = append(list, x.what)
		}
	}
	return strings.Join(list, ", ")
}

// serve starts the server of a story's pages. It takes one key only, if the story says so.
func (p *player) serve() {
	if len(p.pages) > 1 {
		return
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := p.pages[r.URL.Path]
		key := r.Header.Get("x-api-key")
		switch takes := p.env["TAKES"]; {
		case takes != "" && key != takes:
			w.WriteHeader(http.StatusUnauthorized)
		case r.Header.Get("content-type") != "application/json":
			w.WriteHeader(http.StatusUnsupportedMediaType)
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, page)
		}
		for again := p.pages[r.URL.Path+" again"]; again != "" && r.Context().Err() == nil; {
			if _, err := io.WriteString(w, strings.Repeat(again, 10_000)); err != nil {
				return
			}
		}
	}))
	p.t.Cleanup(s.Close)
	p.url = s.URL
}

func TestAKeyFollowsNoRedirect(t *testing.T) {
	testkit.Alone(t)
	reached := false
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer thief.Close()
	server := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	err := Provider{BaseURL: server.URL, Key: "key-secret"}.Check(t.Context())
	if err == nil || reached || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("it went there (%v): %v", reached, err)
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
	if s == nil || len(s.Models) != 1000 || s.Models[0].Name != "m7" || slices.IndexFunc(s.Models, func(o Offer) bool { return !o.Known }) != 1 {
		t.Fatalf("%+v", s)
	}
	r := registry(t, nil)
	testkit.Must(t, r.o.Dir.Write(File, s.YAML(s.Models[999])))
	if p := r.Providers(); len(p) != 1 || len(p[0].Models) != 1+mostKept || len(r.Problems()) > 0 {
		t.Errorf("%d models in the file, %v", len(p[0].Models), r.Problems())
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

func TestALongPromptCostsWhatLongPromptsCost(t *testing.T) {
	_, m, err := registry(t, map[string]string{varKey: "sk-secret"}).Find("haiku")
	testkit.Must(t, err)
	short := m.Cost(agent.Usage{InputTokens: 50_000, CacheWrite: 50_000, CacheHour: 50_000}).CostUSD
	long := m.Cost(agent.Usage{InputTokens: 50_000, CacheRead: 50_001}).CostUSD
	if fmt.Sprintf("%.6f %.6f", short, long) != "0.015000 0.027500" {
		t.Errorf("%.6f and %.6f", short, long)
	}
}

func FuzzAProvidersFileNeverBreaks(f *testing.F) {
	f.Add([]byte("gate:\n  base-url: https://gate.example\n  key: GATE_KEY\n  auth: bearer\n  models:\n    - {name: Big-1, like: sonnet, price: [1, 2, 0.1, 1.25]}\n"))
	f.Add([]byte("a:\n  base-url: https://x\n  models: [{name: b, like: opus, efforts: [c]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range parse(data).entries {
			if e.BaseURL == "" || e.Name == "" || slices.ContainsFunc(e.Models, func(m Model) bool { return m.Name == "" || m.MaxOutput >= m.Window }) {
				t.Errorf("%+v", e)
			}
		}
	})
}
