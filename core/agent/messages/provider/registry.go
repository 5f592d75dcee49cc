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

// The variables that need no file.
const (
	varBaseURL = "ANTHROPIC_BASE_URL"
	varKey     = "ANTHROPIC_API_KEY"
	varToken   = "ANTHROPIC_AUTH_TOKEN"
)

const anthropicHost = "api.anthropic.com"

// Options are the parts of a Registry.
type Options struct {
	Dir *store.Dir
	// Getenv looks a variable up, in the environment and in .env.
	Getenv func(string) string
	// Hide is told each key whenever it is read, so that no error shows it; nil hides
	// none.
	Hide func(secret string)
}

// Registry knows the providers. Use New; its methods are safe for several goroutines.
type Registry struct {
	o      Options
	file   *store.Cached[file]
	prices *money.Prices
	hidden sync.Map // the keys that Hide was told
}

// New reads nothing yet. The file is read again when it was saved.
func New(o Options) *Registry {
	if o.Hide == nil {
		o.Hide = func(string) {}
	}
	r := &Registry{o: o, file: store.NewCached[file](o.Dir, File)}
	r.prices = money.NewPrices(o.Dir, r.ownPrice)
	return r
}

// HideFrom tells one more who keeps keys out of sight: a log. It is called before
// anything else runs.
func (r *Registry) HideFrom(hide func(secret string)) {
	before := r.o.Hide
	r.o.Hide = func(secret string) {
		before(secret)
		hide(secret)
	}
	r.hidden.Clear()
	r.Providers() // those that were read already
}

// Prices is the one table of prices, with those of the file.
func (r *Registry) Prices() *money.Prices { return r.prices }

// Problems are what is wrong with the file, and keys that cannot be used.
func (r *Registry) Problems() []routines.Problem {
	f := r.load()
	list := file{problems: slices.Clone(f.problems)}
	for _, e := range f.entries {
		if _, _, err := r.key(e); err != nil {
			list.add(e.line, 1, routines.Error, err.Error())
		}
	}
	return list.problems
}

// Providers are those that can be asked: the file's in its order, and Anthropic
// where there is a key or an address for it in the environment. What their models cost
// is told by Find.
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
	p := anthropic(r.o.Getenv(varBaseURL), true) // what the environment says
	p.Key, p.Bearer = r.environment()
	if !inFile && (p.Key != "" || r.o.Getenv(varBaseURL) != "") {
		all = append(all, p)
	}
	return all
}

// Ready says what is missing before anybody can be asked; nil where nothing is.
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

// environment is Anthropic's key there.
func (r *Registry) environment() (key config.Secret, bearer bool) {
	text := strings.TrimSpace(r.o.Getenv(varKey))
	if text == "" {
		text, bearer = strings.TrimSpace(r.o.Getenv(varToken)), true
	}
	r.hide(text)
	return config.Secret(text), bearer && text != ""
}

func (r *Registry) hide(secret string) {
	if _, known := r.hidden.Load(secret); !known && len(secret) >= 6 { // "1" would be found everywhere
		r.o.Hide(secret)
		r.hidden.Store(secret, true)
	}
}

// key is an entry's key. The error is a sentence that does not hold it.
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

// keyFile reads the file of a key, which only its owner may read and the agent may
// not see.
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

// missing is the sentence that nobody can be asked: another engine may answer.
type missing string

func (m missing) Error() string { return string(m) }

// Is makes it agent.ErrUnavailable.
func (m missing) Is(target error) bool { return target == agent.ErrUnavailable }

// families are the names of Anthropic's models, which tasks and the bot itself use
// whoever answers.
var families = []string{"opus", "sonnet", "haiku", "fable"}

// Find is the model of a name: "haiku", "claude-haiku-5-5", "local/qwen3"; empty is
// the first one. A family of Anthropic's is the first model too where nobody has it.
// A name with a provider's in front that the table does not have is a model of which
// nothing is known. The error is a sentence with what there is.
func (r *Registry) Find(name string) (Provider, Model, error) {
	p, m, err := r.find(name)
	if err == nil && !m.priced && !m.Free {
		m.Price = r.prices.Of(m.Name)
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
			m = Model{Provider: p.Name, Name: own, Window: defaultWindow, MaxOutput: defaultOutput, Free: p.nearby()}
		}
		return p, m, nil
	}
	if slices.Contains(families, strings.ToLower(name)) && first >= 0 {
		return all[first], all[first].Models[0], nil
	}
	return Provider{}, Model{}, missing(fmt.Sprintf(textUnknown, clean.Cut(clean.Line(name), 60), strings.Join(names(all), ", ")))
}

// Names are what models can be asked for by: families and what the file has.
func (r *Registry) Names() []string { return names(r.Providers()) }

// ownPrice is what the file says about a model, by any of its names.
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

// names are what the models of all are asked for by.
func names(all []Provider) []string {
	var list []string
	for _, p := range all {
		for _, m := range p.Models {
			name := m.FullName()
			if p.Name == Anthropic && len(m.Aliases) > 0 {
				name = m.Aliases[0]
			}
			list = append(list, name)
		}
	}
	return list
}
