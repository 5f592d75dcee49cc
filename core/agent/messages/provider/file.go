package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/money"
	"ollimbot/routines"
)

// File is the user's own providers, in the data directory.
const File = "providers.yaml"

// entry is a provider of the file and the location of its key.
type entry struct {
	Provider
	keyVar, keyFile string
	line            int
}

// load returns the current file.
func (r *Registry) load() file {
	f, err := r.file.Load(func() (file, error) {
		data, err := r.o.Dir.Read(File)
		if err != nil {
			return file{}, err
		}
		return parse(data).with(r.o.Dir), nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f = file{broken: true}
		f.add(1, 1, routines.Error, fmt.Sprintf(textUnreadable, err))
		f = f.with(r.o.Dir)
	}
	return f
}

// with returns the file with the entries of its last valid version for those that it has lost to a mistake.
func (f file) with(d *store.Dir) file {
	i := slices.IndexFunc(f.problems, func(p routines.Problem) bool { return p.Severity == routines.Error })
	data, at, ok := d.Valid(File)
	if i < 0 || !ok {
		return f
	}
	old := parse(data)
	for _, e := range old.entries {
		there := slices.ContainsFunc(f.entries, func(now entry) bool { return now.Name == e.Name })
		if !there && (f.broken || slices.Contains(f.named, e.Name)) {
			f.entries = append(f.entries, e)
		}
	}
	if f.hears == nil && (f.broken || slices.Contains(f.named, transcribeKey)) {
		f.hears = old.hears
	}
	f.problems[i] = f.problems[i].Keeping(at)
	return f
}

// providerName matches a provider's name, which precedes the slash in "local/qwen3".
var providerName = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{0,30}$`)

// Check returns the problems of the file's text, apart from keys that cannot be used.
func Check(data []byte) []routines.Problem { return parse(data).problems }

// parse reads the file's text.
func parse(data []byte) file {
	fields, problems, ok := routines.Keys(File, data)
	f := file{problems: problems, broken: !ok}
	if !ok {
		return f
	}
	for _, p := range fields {
		f.named = append(f.named, p.Key)
		switch {
		case !providerName().MatchString(p.Key):
			f.add(p.Line, p.Column, routines.Error, fmt.Sprintf(textBadName, clean.Cut(clean.Line(p.Key), 40)))
		case p.Value.Kind != frontmatter.Map:
			f.add(p.Line, p.Column, routines.Error, fmt.Sprintf(textNoKeys, p.Key))
		case p.Key == transcribeKey:
			f.transcriber(p)
		default:
			f.provider(p)
		}
	}
	return f
}

// provider parses one provider. It is left out if its address or the location of its key is
// unusable: a request must not go elsewhere, nor without the key.
func (f *file) provider(p frontmatter.Field) {
	e := entry{Provider: Provider{Name: p.Key}, line: p.Line}
	if p.Key == Anthropic {
		e.Provider = anthropic("", true)
	}
	var models frontmatter.Value
	sound := true
	for _, field := range p.Value.Fields {
		set, known := providerFields[field.Key]
		switch {
		case field.Key == "models":
			models = field.Value
			continue
		case field.Key == "batches":
			f.add(field.Line, field.Column, routines.Warning, p.Key+"."+textBatches)
			continue
		case !known:
			f.unknown(field, slices.Sorted(maps.Keys(providerFields)), "models")
			continue
		}
		if err := set(&e, field.Value); err != nil {
			f.add(field.Value.Line, field.Value.Column, routines.Error, p.Key+"."+field.Key+": "+err.Error())
			sound = false
		}
	}
	switch {
	case !sound:
		return
	case e.BaseURL == "":
		f.add(p.Line, p.Column, routines.Error, p.Key+": "+textNoBaseURL)
		return
	case (e.keyVar != "" || e.keyFile != "") && !e.private():
		f.add(p.Line, p.Column, routines.Error, p.Key+": "+textOpenKey)
		return
	case e.keyVar != "" && e.keyFile != "":
		f.add(p.Line, p.Column, routines.Error, p.Key+": "+textTwoKeys)
		return
	}
	if f.models(&e, models); len(e.Models) > 0 {
		f.entries = append(f.entries, e)
	}
}

// models parses the models of a provider. A model with errors is left out.
func (f *file) models(e *entry, v frontmatter.Value) {
	if v.Kind == frontmatter.Null && len(e.Models) > 0 {
		return
	}
	if v.Kind != frontmatter.List || len(v.Items) == 0 {
		f.add(max(v.Line, e.line), v.Column, routines.Error, e.Name+": "+textNoModels)
		return
	}
	own := make([]Model, 0, len(v.Items))
	for _, item := range v.Items {
		m, ok := f.model(e, item)
		switch _, twice := (Provider{Models: own}).model(m.Name); {
		case !ok:
		case twice:
			f.add(item.Line, item.Column, routines.Error, fmt.Sprintf(textTwice, e.Name, m.Name))
		default:
			own = append(own, m)
		}
	}
	e.Models = append(own, e.Models...)
}

// model parses a model, which is a name or a map of keys.
func (f *file) model(e *entry, item frontmatter.Value) (Model, bool) {
	m := Model{Provider: e.Name, Window: defaultWindow, Free: e.nearby()}
	fields := item.Fields
	if item.Kind == frontmatter.Scalar {
		fields = []frontmatter.Field{{Key: "name", Value: item}}
	}
	sound := true
	slices.SortStableFunc(fields, func(a, b frontmatter.Field) int { // "like" first, so that other keys override it
		return -strings.Compare(strconv.FormatBool(a.Key == "like"), strconv.FormatBool(b.Key == "like"))
	})
	for _, field := range fields {
		set, known := modelFields[field.Key]
		if !known {
			f.unknown(field, slices.Sorted(maps.Keys(modelFields)))
			continue
		}
		if err := set(&m, field.Value); err != nil {
			f.add(field.Value.Line, field.Value.Column, routines.Error, e.Name+".models."+field.Key+": "+err.Error())
			sound = false
		}
	}
	if sound && m.Name == "" {
		f.add(item.Line, item.Column, routines.Error, e.Name+".models: "+textNoModelName)
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = outputOf(m.Window)
	}
	if m.MaxOutput >= m.Window && sound {
		f.add(item.Line, item.Column, routines.Error, e.Name+".models: "+fmt.Sprintf(textNarrow, m.MaxOutput, m.Window))
		sound = false
	}
	return m, sound && m.Name != ""
}

// Limits of a model that the file does not describe, in tokens.
const (
	defaultWindow = 32_768
	defaultOutput = 8_192
)

// outputOf returns the longest answer of a model that the file does not limit: it leaves most of the window to the prompt.
func outputOf(window int) int { return min(defaultOutput, window/4) }

// unknown returns a model that the file does not name.
func (p Provider) unknown(name string) Model {
	return Model{Provider: p.Name, Name: name, Window: defaultWindow, MaxOutput: defaultOutput, Free: p.nearby()}
}

// providerFields are the keys of a provider.
var providerFields = map[string]func(*entry, frontmatter.Value) error{
	"base-url": func(e *entry, v frontmatter.Value) error {
		u, err := url.Parse(v.Text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return errors.New(textBadURL)
		}
		e.BaseURL = strings.TrimSuffix(strings.TrimRight(v.Text, "/"), "/v1")
		e.Betas = e.Betas && u.Host == anthropicHost
		return nil
	},
	"key": func(e *entry, v frontmatter.Value) error {
		if e.keyVar = v.Text; !variable().MatchString(v.Text) {
			return errors.New(textBadKey)
		}
		return nil
	},
	"key-file": func(e *entry, v frontmatter.Value) error {
		if e.keyFile = v.Text; !strings.HasPrefix(v.Text, "/") && !strings.HasPrefix(v.Text, "~/") {
			return errors.New(textBadKeyFile)
		}
		return nil
	},
	"auth": func(e *entry, v frontmatter.Value) error {
		e.Bearer = v.Text == "bearer"
		return oneOf(v, "x-api-key", "bearer")
	},
	"betas": func(e *entry, v frontmatter.Value) error { return boolean(&e.Betas, v) },
	"api": func(e *entry, v frontmatter.Value) error {
		e.API = dialect.API(v.Text)
		return oneOf(v, dialect.All()...)
	},
}

// modelFields are the keys of a model.
var modelFields = map[string]func(*Model, frontmatter.Value) error{
	"like": func(m *Model, v frontmatter.Value) error {
		like, ok := (Provider{Models: claudeModels()}).model(v.Text)
		if !ok {
			return errors.New(textLike)
		}
		like.Provider, like.Name, like.Aliases, like.Free = m.Provider, m.Name, nil, m.Free
		*m = like
		return nil
	},
	"name":       func(m *Model, v frontmatter.Value) error { return word(&m.Name, v) },
	"aliases":    func(m *Model, v frontmatter.Value) error { return list(&m.Aliases, v) },
	"window":     func(m *Model, v frontmatter.Value) error { return count(&m.Window, v, 1024) },
	"max-output": func(m *Model, v frontmatter.Value) error { return count(&m.MaxOutput, v, 256) },
	"tools": func(m *Model, v frontmatter.Value) error {
		err := boolean(&m.NoTools, v)
		m.NoTools = !m.NoTools
		return err
	},
	"thinking":        thinking,
	"thinking-off":    func(m *Model, v frontmatter.Value) error { return word(&m.Thinking.Off, v) },
	"efforts":         func(m *Model, v frontmatter.Value) error { return list(&m.Efforts, v) },
	"cache":           func(m *Model, v frontmatter.Value) error { return boolean(&m.Cache, v) },
	"system-messages": func(m *Model, v frontmatter.Value) error { return boolean(&m.SystemMessages, v) },
	"images":          func(m *Model, v frontmatter.Value) error { return boolean(&m.Images, v) },
	"pdfs":            func(m *Model, v frontmatter.Value) error { return boolean(&m.PDFs, v) },
	"compaction":      func(m *Model, v frontmatter.Value) error { return word(&m.Compaction, v) },
	"web-search":      func(m *Model, v frontmatter.Value) error { return word(&m.WebSearch, v) },
	"free":            func(m *Model, v frontmatter.Value) error { return boolean(&m.Free, v) },
	"price": func(m *Model, v frontmatter.Value) (err error) {
		text := v.Text
		for _, item := range v.Items {
			text += " " + item.Text
		}
		m.Free = false
		m.Price, err = money.ParsePrice(text)
		m.priced = err == nil
		return err
	},
}

func thinking(m *Model, v frontmatter.Value) error {
	styles := []string{"none", "budget", "adaptive"}
	if err := oneOf(v, styles...); err != nil {
		return err
	}
	m.Thinking.Style = ThinkingStyle(slices.Index(styles, v.Text))
	return nil
}
