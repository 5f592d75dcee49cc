package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/config"
	"ollimbot/core/money"
)

// The variables that need no file.
const (
	varBaseURL = "ANTHROPIC_BASE_URL"
	varKey     = "ANTHROPIC_API_KEY"
	varToken   = "ANTHROPIC_AUTH_TOKEN"
)

// Options are the parts of a Registry.
type Options struct {
	// Getenv looks a variable up, in the environment and in .env.
	Getenv func(string) string
	// Prices is the one table of prices.
	Prices *money.Prices
}

// Registry knows the providers. Use New; its methods are safe for several goroutines.
type Registry struct{ o Options }

// New reads nothing yet.
func New(o Options) *Registry { return &Registry{o: o} }

// Providers are all there are, Anthropic first.
func (r *Registry) Providers() []Provider { return []Provider{r.anthropic()} }

// anthropic is the built-in one, with what the environment says about it.
func (r *Registry) anthropic() Provider {
	p := Provider{
		Name: Anthropic, Betas: true, Batches: true, Key: config.Secret(r.o.Getenv(varKey)),
		BaseURL: strings.TrimRight(cmp.Or(r.o.Getenv(varBaseURL), "https://api.anthropic.com"), "/"),
		Models:  claudeModels(),
	}
	if p.Key == "" {
		p.Key, p.Bearer = config.Secret(r.o.Getenv(varToken)), true
	}
	for i := range p.Models {
		p.Models[i].Price = r.o.Prices.Of(p.Models[i].Name)
	}
	return p
}

// Find is the model of a name: "haiku", "claude-haiku-5-5", "local/qwen3"; empty is
// the default one. A name with a provider's in front that the table does not have is
// a model of which nothing is known. The error is a sentence with what there is.
func (r *Registry) Find(name string) (Provider, Model, error) {
	all := r.Providers()
	if name == "" {
		return all[0], all[0].Models[0], nil
	}
	of, own, given := strings.Cut(name, "/")
	for _, p := range all {
		want := name
		if given && p.Name == of {
			want = own
		}
		if m, ok := p.model(want); ok {
			return p, m, nil
		}
		if given && p.Name == of {
			return p, Model{Provider: p.Name, Name: own, Price: r.o.Prices.Of(own)}, nil
		}
	}
	return Provider{}, Model{}, fmt.Errorf(textUnknown, clean.Cut(clean.Line(name), 60), strings.Join(names(all), ", "))
}

// model is the model of that name or alias.
func (p Provider) model(name string) (Model, bool) {
	i := slices.IndexFunc(p.Models, func(m Model) bool { return m.Name == name || slices.Contains(m.Aliases, name) })
	if i < 0 {
		return Model{}, false
	}
	return p.Models[i], true
}

// names are what the models of all are asked for by.
func names(all []Provider) []string {
	var list []string
	for _, p := range all {
		for _, m := range p.Models {
			name := m.FullName()
			if len(m.Aliases) > 0 {
				name = m.Aliases[0]
			}
			list = append(list, name)
		}
	}
	return list
}
