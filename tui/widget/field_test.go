package widget

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"ollimbot/tui/theme"
)

// named are the keys that write nothing.
var named = map[string]tea.KeyPressMsg{
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "alt+left": {Code: tea.KeyLeft, Mod: tea.ModAlt}, "alt+right": {Code: tea.KeyRight, Mod: tea.ModAlt},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl}, "ctrl+a": {Code: 'a', Mod: tea.ModCtrl},
}

// press is a key by name, or a text that is typed.
func press(s string) tea.KeyPressMsg {
	if k, ok := named[s]; ok {
		return k
	}
	r := []rune(s)[0]
	return tea.KeyPressMsg{Code: r, Text: s}
}

func TestFieldEditsAsTerminalsDo(t *testing.T) {
	for _, c := range []struct {
		name, start string
		keys        string
		want        string // with | for the caret
	}{
		{"typing", "", "a b", "ab|"},
		{"inserting", "ac", "left b", "ab|c"},
		{"backspace", "abc", "left backspace", "a|c"},
		{"delete", "abc", "home delete", "|bc"},
		{"backspace at the start", "abc", "home backspace", "|abc"},
		{"delete at the end", "abc", "delete", "abc|"},
		{"whole characters", "a👍🏽", "backspace", "a|"},
		{"left over a whole character", "e\u0301x", "left left", "|e\u0301x"},
		{"line start", "one two", "home", "|one two"},
		{"erase the line", "one two", "left left ctrl+u", "|wo"},
		{"erase a word", "one two  ", "ctrl+w", "one |"},
		{"erase to the end", "one two", "home ctrl+k", "|"},
		{"by words", "one two", "alt+left alt+left alt+right", "one| two"},
		{"up keeps the column", "abc\ndef", "up", "abc|\ndef"},
		{"up at the top", "abc", "up", "abc|"},
		{"down to a shorter line", "abc\nd", "home up end down", "abc\nd|"},
		{"backspace joins lines", "ab\ncd", "home backspace", "ab|cd"},
	} {
		f := Field{Multi: true}
		f.Set(c.start)
		for key := range strings.SplitSeq(c.keys, " ") {
			if !f.Take(press(key)) {
				t.Errorf("%s: %q was not taken", c.name, key)
			}
		}
		if got := f.before + "|" + f.after; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFieldLeavesOtherKeysAlone(t *testing.T) {
	f := Field{}
	f.Set("text")
	for _, key := range []string{"enter", "esc"} {
		if f.Take(press(key)) || f.Text() != "text" {
			t.Errorf("%s was taken", key)
		}
	}
	if f.Take(tea.KeyPressMsg{Code: 'x', Text: "x", Mod: tea.ModAlt}) {
		t.Error("alt+x was taken as text")
	}
}

func TestPastesAreCleaned(t *testing.T) {
	f := Field{}
	f.Take(tea.PasteMsg{Content: "a\x1b[31mb\r\nc\u202e"})
	if f.Text() != "ab c" {
		t.Errorf("got %q", f.Text())
	}
	f.Insert(strings.Repeat("é", maxField))
	if n := len(f.Text()); n > maxField || n < maxField-2 {
		t.Errorf("a field of at most %d bytes holds %d", maxField, n)
	}
}

func TestFieldLinesAreExactAndShowTheCaret(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: 1 << 24})
	caret := th.Paint(theme.Caret, "x")
	open := caret[:strings.Index(caret, "x")]
	keys := make([]string, 0, len(named))
	for k := range named {
		keys = append(keys, k)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := Field{Multi: true}
		f.Set(text().Draw(t, "text"))
		for range rapid.IntRange(0, 9).Draw(t, "presses") {
			f.Take(named[rapid.SampledFrom(keys).Draw(t, "key")])
		}
		w, h := rapid.IntRange(2, 30).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "h")
		lines := f.Lines(Brush{Theme: th}, w, h, true)
		if len(lines) < 1 || len(lines) > h {
			t.Fatalf("%d lines, at most %d", len(lines), h)
		}
		for _, l := range lines {
			if n := seen(l); n != w {
				t.Fatalf("%q takes %d cells, want %d", l, n, w)
			}
		}
		if strings.Count(strings.Join(lines, ""), open) != 1 {
			t.Fatalf("one caret wanted in %q (%q|%q)", lines, f.before, f.after)
		}
	})
}
