package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/money"
	"ollimbot/routines"
)

// Variables that configure Anthropic without a file.
const (
	varBaseURL = "ANTHROPIC_BASE_URL"
	varKey     = "ANTHROPIC_API_KEY"
	varToken   = "ANTHROPIC_AUTH_TOKEN"
)

const anthropicHost = "api.anthropic.com"

// Options configure a Registry.
type Options struct {
	Dir *store.Dir
	// Getenv looks up a variable in the environment and in .env.
	Getenv func(string) string
	// Hide is called with each key that is read, so that no log shows it. May be nil.
	Hide func(secret string)
}

// Registry is the table of providers. Use New; its methods may be called concurrently.
type Registry struct {
	o      Options
	file   *store.Cached[file]
	prices *money.Prices
	hidden sync.Map // keys that were already passed to Hide
}

// New reads nothing. The file is reloaded when it changes.
func New(o Options) *Registry {
	if o.Hide == nil {
		o.Hide = func(string) {}
	}
	r := &Registry{o: o, file: store.NewCached[file](o.Dir, File)}
	r.prices = money.NewPrices(o.Dir, r.ownPrice)
	return r
}

// HideFrom adds another function that hides keys, such as a log's. Call it before anything
// else runs.
func (r *Registry) HideFrom(hide func(secret string)) {
	before := r.o.Hide
	r.o.Hide = func(secret string) {
		before(secret)
		hide(secret)
	}
	r.hidden.Clear()
	r.Providers() // hides the keys that were read already
}

// Prices returns the table of prices, including those of the file.
func (r *Registry) Prices() *money.Prices { return r.prices }

// Problems returns the errors in the file and the keys that cannot be used.
func (r *Registry) Problems() []routines.Problem {
	f := r.load()
	list := file{problems: slices.Clone(f.problems)}
	for _, e := range f.entries {
		if _, _, err := r.key(e); err != nil {
			list.add(e.line, 1, routines.Error, err.Error())
		}
	}
	if f.hears != nil {
		if _, err := r.unlocked(*f.hears); err != nil {
			list.add(f.hears.line, 1, routines.Error, err.Error())
		}
	}
	return list.problems
}

// Providers returns the usable providers: Anthropic if the environment has a key or an address for
// it, then those of the file in its order. A file that names Anthropic decides its place. The
// prices of their models are not set; Find sets them.
func (r *Registry) Providers() []Provider {
	var all []Provider
	inFile := false
	for _, e := range r.load().entries {
		inFile = inFile || e.Name == Anthropic
		secret, bearer, err := r.key(e)
		if err != nil {
			continue
		}
		p := e.Provider
		p.Key, p.Bearer = secret, p.Bearer || bearer
		all = append(all, p)
	}
	p := anthropic(r.o.Getenv(varBaseURL), true) // as configured in the environment
	p.Key, p.Bearer = r.environment()
	if !inFile && (p.Key != "" || r.o.Getenv(varBaseURL) != "") {
		all = slices.Insert(all, 0, p) // a local model next to it does not take over the conversation
	}
	return all
}

// Ready returns an error if something that every request needs is missing.
func (r *Registry) Ready() error {
	if len(r.Providers()) > 0 {
		return nil
	}
	for _, p := range r.Problems() {
		if p.Severity == routines.Error {
			return missing(fmt.Sprintf("%s, line %d: %s", p.File, p.Line, p.Message))
		}
	}
	return missing(textNoKey)
}

// Transcriber returns the transcriber of voice messages. The error is ErrNoTranscriber if the file
// has none; otherwise it describes a mistake in the entry.
func (r *Registry) Transcriber() (Transcriber, error) {
	f := r.load()
	if f.hears != nil {
		return r.unlocked(*f.hears)
	}
	for _, p := range f.problems {
		if p.Severity == routines.Error && strings.HasPrefix(p.Message, transcribeKey) {
			return Transcriber{}, fmt.Errorf("%s, line %d: %s", p.File, p.Line, p.Message)
		}
	}
	return Transcriber{}, ErrNoTranscriber
}

// unlocked adds the key.
func (r *Registry) unlocked(t transcriber) (Transcriber, error) {
	if t.keyVar == "" {
		return t.Transcriber, nil
	}
	text := strings.TrimSpace(r.o.Getenv(t.keyVar))
	if text == "" {
		return Transcriber{}, fmt.Errorf(textNoVariable, transcribeKey, t.keyVar)
	}
	r.hide(text)
	t.Key = config.Secret(text)
	return t.Transcriber, nil
}

// environment returns Anthropic's key from the environment.
func (r *Registry) environment() (key config.Secret, bearer bool) {
	text := strings.TrimSpace(r.o.Getenv(varKey))
	if text == "" {
		text, bearer = strings.TrimSpace(r.o.Getenv(varToken)), true
	}
	r.hide(text)
	return config.Secret(text), bearer && text != ""
}

func (r *Registry) hide(secret string) {
	if _, known := r.hidden.Load(secret); !known && len(secret) >= 6 { // a short value such as "1" would match everywhere
		r.o.Hide(secret)
		r.hidden.Store(secret, true)
	}
}

// key returns an entry's key. The error does not contain it.
func (r *Registry) key(e entry) (key config.Secret, bearer bool, err error) {
	var text string
	switch {
	case e.keyVar != "":
		if text = strings.TrimSpace(r.o.Getenv(e.keyVar)); text == "" {
			return "", false, fmt.Errorf(textNoVariable, e.Name, e.keyVar)
		}
	case e.keyFile != "":
		if text, err = r.keyFile(e); err != nil {
			return "", false, err
		}
	case e.Name == Anthropic:
		key, bearer = r.environment()
		return key, bearer, nil
	}
	r.hide(text)
	return config.Secret(text), false, nil
}

// keyFile reads a key from its file, which must be readable only by its owner and outside the
// agent's reach.
func (r *Registry) keyFile(e entry) (string, error) {
	path := e.keyFile
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(r.o.Getenv("HOME"), rest)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf(textNoFile, e.Name, store.Bare(err))
	}
	root, err := filepath.EvalSymlinks(r.o.Dir.Root())
	if rel, rerr := filepath.Rel(root, path); err == nil && rerr == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return "", fmt.Errorf(textInData, e.Name)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf(textNoFile, e.Name, store.Bare(err))
	case !info.Mode().IsRegular() || info.Size() > 4096:
		return "", fmt.Errorf(textNoKeyText, e.Name)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf(textOpenFile, e.Name, info.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf(textNoFile, e.Name, store.Bare(err))
	}
	text := strings.TrimSpace(string(data))
	if text == "" || clean.Line(text) != text || strings.ContainsAny(text, " \t") {
		return "", fmt.Errorf(textNoKeyText, e.Name)
	}
	return text, nil
}

// missing is the error of an engine without a usable model; another engine may answer.
type missing string

func (m missing) Error() string { return string(m) }

// Is matches agent.ErrUnavailable.
func (m missing) Is(target error) bool { return target == agent.ErrUnavailable }

// families are the names of Anthropic's models. Tasks and the bot use them with any
// provider.
var families = []string{"opus", "sonnet", "haiku", "fable"}

// Find returns the model with a name: "haiku", "claude-haiku-5-5", "local/qwen3". An empty name
// means the first model, and so does the name of an Anthropic family if no provider offers it. An
// unknown model with a known provider in front gets default abilities. The error lists the known
// names.
func (r *Registry) Find(name string) (Provider, Model, error) {
	p, m, err := r.find(name)
	if err == nil && !m.priced && !m.Free {
		m.Price, _ = r.prices.Of(m.Name) // without one, the ledger says so
	}
	return p, m, err
}

func (r *Registry) find(name string) (Provider, Model, error) {
	all := r.Providers()
	if len(all) == 0 {
		return Provider{}, Model{}, r.Ready()
	}
	first := slices.IndexFunc(all, func(p Provider) bool { return len(p.Models) > 0 })
	if name == "" && first >= 0 {
		return all[first], all[first].Models[0], nil
	}
	of, own, given := strings.Cut(name, "/")
	for _, p := range all {
		switch m, ok := p.model(name); {
		case ok:
			return p, m, nil
		case !given || p.Name != of || own == "":
			continue
		}
		m, ok := p.model(own)
		if !ok {
			m = p.unknown(own)
		}
		return p, m, nil
	}
	if slices.Contains(families, strings.ToLower(name)) && first >= 0 {
		return all[first], all[first].Models[0], nil
	}
	return Provider{}, Model{}, missing(fmt.Sprintf(textUnknown, clean.Cut(clean.Line(name), 60), strings.Join(names(all), ", ")))
}

// Names returns the names by which models can be requested: families and those of the file.
func (r *Registry) Names() []string { return names(r.Providers()) }

// ownPrice returns the file's price of a model, by any of its names.
func (r *Registry) ownPrice(name string) (money.Price, bool) {
	of, own, given := strings.Cut(name, "/")
	for _, e := range r.load().entries {
		m, ok := e.model(name)
		if !ok && given && e.Name == of {
			m, ok = e.model(own)
			ok = ok || e.nearby()
		}
		if ok && (m.priced || m.Free || m.Name == "") {
			return m.Price, true
		}
	}
	return money.Price{}, false
}

func names(all []Provider) []string {
	var list []string
	for _, p := range all {
		for _, m := range p.Models {
			list = append(list, shownName(m))
		}
	}
	return list
}

// shownName returns the shortest name under which a model can be asked for anywhere.
func shownName(m Model) string {
	if m.Provider == Anthropic && len(m.Aliases) > 0 {
		return m.Aliases[0]
	}
	return m.FullName()
}
