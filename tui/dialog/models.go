package dialog

import (
	"context"
	"slices"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/tui/pane"
)

// PickModel opens the form for a setting that takes a model: the short names, the models that providers offer as soon as
// their servers have described them, and a line for any other name. set makes the command for a value.
func PickModel(title, about, now string, short []string, set func(value string) (command.Value, error)) pane.Answer {
	picked, other := slices.Index(short, now), now
	if picked >= 0 {
		other = ""
	}
	name := Text(fieldOtherModel, other, func(_ pane.Context, text string) (string, bool) {
		_, err := set(strings.TrimSpace(text))
		return reason(err), err == nil
	})
	name.Hint, name.needed, name.Selected = textOtherModel, true, true
	f := &Form{Name: title, picks: true, types: formKeys.name, opened: time.Now()}
	var means []string // of each choice, below the form
	offer := func(m command.ModelChoice) {
		at := len(f.Fields) - 1 // before the line to type
		field := Choice(m.Name, "", "")
		field.Hint = m.About
		f.Fields = slices.Insert(f.Fields, at, field)
		means = append(means, m.Means)
		if f.at >= at {
			f.at++
		}
		if m.Name == now && f.Fields[f.at] == name && name.Text() == now {
			f.at = at
		}
	}
	f.Fields = []*Field{name}
	for _, word := range short {
		offer(command.ModelChoice{Name: word, Means: about})
	}
	if picked >= 0 {
		f.at = picked
	}
	f.Make = func(pane.Context) command.Value {
		value := f.Fields[f.at].Label
		if f.Fields[f.at] == name {
			value = strings.TrimSpace(name.Text())
		}
		if value == now {
			return nil
		}
		do, _ := set(value) // the short names and those of providers are valid, and the typed one was checked
		return do
	}
	f.effect = func(pane.Context) (string, bool) {
		if f.at >= len(means) {
			return "", true
		}
		return means[f.at], true
	}
	return pane.Answer{Open: f, Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		list, _ := r.Models(ctx) // without a list, a name can still be typed
		return func(pane.Context) pane.Answer {
			for _, m := range list {
				offer(m)
			}
			return pane.Answer{}
		}
	}}
}
