// Package tuitest is what tests of the dashboard's packages share: how the steps of a story are written, how keys are
// called, and how a command is named. It knows nothing of what a story is about. Only tests import it.
package tuitest

import (
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Step is a line of a story: inputs => texts, with blanks between inputs and " | " between texts.
type Step struct {
	Line          string
	Inputs, Texts []string
}

// inputsOf finds the inputs of a step: a word, or what is between quotes or brackets.
var inputsOf = regexp.MustCompile(`>?"[^"]+"|<<?[^<> ][^<>]*>|\([^()]+\)|\[[^] ][^]]*\]|\{[^ ][^{}]*\}|\S+`)

// Steps are the lines of a story.
func Steps(story string) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for line := range strings.SplitSeq(strings.TrimSpace(story), "\n") {
			s := Step{Line: strings.TrimSpace(line)}
			inputs, texts, _ := strings.Cut(" "+s.Line+" ", " => ")
			s.Inputs = inputsOf.FindAllString(inputs, -1)
			if texts = strings.TrimSpace(texts); texts != "" {
				s.Texts = strings.Split(texts, " | ")
			}
			if !yield(s) {
				return
			}
		}
	}
}

var codes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "f5": tea.KeyF5,
}

// Key is a key by its name, as "ctrl+p", "pgdown" or "x". named is false for a letter that is typed.
func Key(name string) (key tea.KeyPressMsg, named bool) {
	for mod, code := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if rest, found := strings.CutPrefix(name, mod); found {
			name, key.Mod = rest, code
		}
	}
	if key.Code, named = codes[name]; named {
		if name == "space" && key.Mod == 0 {
			key.Text = " "
		}
		return key, true
	}
	if key.Code = []rune(name)[0]; key.Mod == 0 {
		key.Text = name
	}
	return key, key.Mod != 0
}

// Type gives a text letter by letter.
func Type(text string, take func(tea.KeyPressMsg)) {
	for _, r := range text {
		take(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// Words names a command and what it has: SetBudget Capacity=6. Nil has no words.
func Words(command any) string {
	if command == nil {
		return ""
	}
	v := reflect.ValueOf(command)
	return strings.ReplaceAll(strings.TrimSpace(v.Type().Name()+" "+fields(v)), "\n", `\n`)
}

// fields are the fields of a struct that are not zero.
func fields(v reflect.Value) string {
	var all []string
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			all = append(all, v.Type().Field(i).Name+"="+value(f))
		}
	}
	return strings.Join(all, " ")
}

func value(v reflect.Value) string {
	if at, ok := v.Interface().(time.Time); ok {
		return at.Format("02 15:04:05")
	}
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Interface:
		return value(v.Elem())
	case reflect.Struct:
		return "{" + fields(v) + "}"
	case reflect.Slice:
		all := make([]string, v.Len())
		for i := range all {
			all[i] = value(v.Index(i))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return fmt.Sprint(v)
}
