package dialog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/settings"
	"ollimbot/tui/widget/query"
)

// verb is a command line of the palette: a word and its argument, such as "capacity 7".
type verb struct {
	name, usage, about string
	// choices are the possible arguments; nil if the argument is free.
	choices []string
	// make returns what the command does with an argument, or why it cannot.
	make func(c pane.Context, arg string) (pane.Answer, error)
}

// verbs are the commands with an argument that is no run.
func verbs(found []Found) []verb {
	number := func(wrong string, validate func(n *int) error, of func(n *int) command.Value) func(pane.Context, string) (pane.Answer, error) {
		return func(_ pane.Context, arg string) (pane.Answer, error) {
			n, err := strconv.Atoi(arg)
			if err != nil {
				return pane.Answer{}, errors.New(wrong)
			}
			return pane.Answer{Do: of(&n)}, validate(&n)
		}
	}
	look := func(name string) func(pane.Context, string) (pane.Answer, error) {
		return func(_ pane.Context, arg string) (pane.Answer, error) {
			return pane.Answer{Look: map[string]string{name: arg}}, nil
		}
	}
	var keys []string
	for _, f := range found {
		keys = append(keys, f.Key)
	}
	return []verb{
		{"capacity", "NUMBER", textSetsCapacity, nil, number(textNoCapacity, func(n *int) error { return budget.Validate(n, nil) },
			func(n *int) command.Value { return command.SetBudget{Capacity: n} })},
		{"refill", "MINUTES", textSetsRefill, nil, number(textNoMinutes, func(n *int) error { return budget.Validate(nil, n) },
			func(n *int) command.Value { return command.SetBudget{RefillMinutes: n} })},
		{"mute", "TIME", textSetsMute, nil, muteFor},
		{"theme", "NAME", textSetsLook, settings.Choices["theme"], look("theme")},
		{"layout", "NAME", textSetsLook, settings.Choices["layout"], look("layout")},
		{"settings", "KEY", textOpensSetting, keys, func(_ pane.Context, arg string) (pane.Answer, error) {
			return pane.Answer{Focus: action.Settings, Item: arg}, nil
		}},
	}
}

func muteFor(c pane.Context, arg string) (pane.Answer, error) {
	if arg == "off" {
		return pane.Answer{Do: command.MuteUntil{}}, nil
	}
	until, ok := clockTime(arg, now(c))
	switch {
	case !ok:
		return pane.Answer{}, errors.New(textBadMute)
	case !until.After(now(c)):
		return pane.Answer{}, errors.New(textPastMoment)
	}
	return pane.Answer{Do: command.MuteUntil{Until: until}}, nil
}

// lists are the commands whose argument is a filter of the runs.
var lists = []string{"runs", "day"}

// listed is the filter of a command that lists runs; ok is false if the text is none.
func listed(text string) (filter query.Query, ok bool) {
	name, arg, _ := strings.Cut(text, " ")
	return query.Parse(arg), slices.Contains(lists, name) && strings.TrimSpace(arg) != ""
}

// commands are the command lines that a text is, or that it begins.
func (p *Palette) commands(text string) (out []*item) {
	name, arg, typed := strings.Cut(strings.ToLower(text), " ")
	arg = strings.TrimSpace(arg)
	for _, v := range p.verbs {
		switch {
		case !typed && (name == "" || !strings.HasPrefix(v.name, name)), typed && v.name != name:
		case arg == "" && v.choices == nil:
			out = append(out, p.line(v, v.usage, v.name+" ", ""))
		case v.choices == nil:
			_, err := v.make(p.context, arg)
			out = append(out, p.line(v, arg, "", reason(err)))
		default:
			was := len(out)
			for _, choice := range v.choices {
				if typed && strings.Contains(choice, arg) {
					out = append(out, p.line(v, choice, "", ""))
				}
			}
			if len(out) == was {
				why := ""
				if typed {
					why = fmt.Sprintf("%q is none of %s", arg, strings.Join(v.choices, ", "))
				}
				out = append(out, p.line(v, cmp.Or(arg, v.usage), v.name+" ", why))
			}
		}
	}
	if !typed && name != "" {
		for _, list := range lists {
			if strings.HasPrefix(list, name) {
				out = append(out, p.line(verb{name: list, about: textListsRuns}, textListUsage, list+" ", ""))
			}
		}
	}
	return out
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// line is the entry of a command with an argument. fill is what enter writes instead of
// carrying it out.
func (p *Palette) line(v verb, arg, fill, off string) *item {
	it := &item{name: v.name + " " + arg, kind: textACommand, does: textEnter + v.about, fill: fill, off: off}
	if p.context.ReadOnly && v.name != "settings" && fill == "" && v.choices == nil {
		it.off = cmp.Or(off, textReadOnlyHere)
	}
	it.do = func(c pane.Context) pane.Answer {
		a, _ := v.make(c, arg) // it was tried when it was listed
		return a
	}
	return it
}
