package widget

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
)

// named are the keys that write nothing.
var named = map[string]tea.KeyPressMsg{
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "alt+left": {Code: tea.KeyLeft, Mod: tea.ModAlt}, "alt+right": {Code: tea.KeyRight, Mod: tea.ModAlt},
	"alt+d": {Code: 'd', Mod: tea.ModAlt}, "ctrl+e": {Code: 'e', Mod: tea.ModCtrl}, "ctrl+t": {Code: 't', Mod: tea.ModCtrl},
	"ctrl+v": {Code: 'v', Mod: tea.ModCtrl}, "shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift}, "shift+backspace": {Code: tea.KeyBackspace, Mod: tea.ModShift},
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

// written is a text that is being written, of one line or of many.
type written interface {
	Text() string
	Insert(s string)
	Update(msg tea.Msg) bool
}

func around(f written) (before, after string) {
	if in, ok := f.(*Input); ok {
		return in.area.Around()
	}
	return f.(*Area).Around()
}

func editors() map[string]func() written {
	return map[string]func() written{
		"input": func() written { return &Input{} },
		"area":  func() written { return &Area{} },
	}
}

func TestTextIsEditedAsTerminalsDo(t *testing.T) {
	for _, c := range []struct {
		name, start string
		keys        string
		want        string // with | for the caret
	}{
		{"typing", "", "a b", "ab|"},
		{"inserting", "ac", "left b", "ab|c"},
		{"backspace", "abc", "left backspace", "a|c"},
		{"backspace with shift", "abc", "shift+backspace", "ab|"},
		{"delete", "abc", "home delete", "|bc"},
		{"backspace at the start", "abc", "home backspace", "|abc"},
		{"delete at the end", "abc", "delete", "abc|"},
		{"whole characters", "a👍🏽", "backspace", "a|"},
		{"delete whole characters", "👍🏽a", "home delete", "|a"},
		{"left over a whole character", "e\u0301x", "left left", "|e\u0301x"},
		{"right over a whole character", "e\u0301x", "home right", "e\u0301|x"},
		{"line start", "one two", "home", "|one two"},
		{"erase the line", "one two", "left left ctrl+u", "|wo"},
		{"erase a word", "one two  ", "ctrl+w", "one |"},
		{"erase to the end", "one two", "home ctrl+k", "|"},
		{"erase the word ahead", "one two", "home alt+d", "| two"},
		{"erase the word ahead of the last letter", "ab", "left alt+d", "a|"},
		{"erase the word ahead of spaces", "ab ", "left alt+d", "ab|"},
		{"by words", "one two", "alt+left alt+left alt+right", "one| two"},
	} {
		for kind, open := range editors() {
			f := open()
			f.Insert(c.start)
			for key := range strings.SplitSeq(c.keys, " ") {
				if !f.Update(press(key)) {
					t.Errorf("%s, %s: %q was not taken", kind, c.name, key)
				}
			}
			before, after := around(f)
			if got := before + "|" + after; got != c.want {
				t.Errorf("%s, %s: %q, want %q", kind, c.name, got, c.want)
			}
		}
	}
}

func TestAnAreaHasLines(t *testing.T) {
	for _, c := range []struct{ name, start, keys, want string }{
		{"up keeps the column", "abc\ndef", "up", "abc|\ndef"},
		{"up at the top", "abc", "up", "abc|"},
		{"down to a shorter line", "abc\nd", "home up end down", "abc\nd|"},
		{"backspace joins lines", "ab\ncd", "home backspace", "ab|cd"},
		{"delete joins lines", "ab\ncd", "up end delete", "ab|cd"},
		{"up goes by the lines on the screen", "one two three four", "up", "one two| three four"},
		{"left goes to the line above", "ab\ncd", "home left", "ab|\ncd"},
	} {
		a := &Area{}
		a.Lines(Brush{Theme: theme.New(theme.Options{Plain: true})}, 12, 3, true)
		a.Insert(c.start)
		for key := range strings.SplitSeq(c.keys, " ") {
			if !a.Update(press(key)) {
				t.Errorf("%s: %q was not taken", c.name, key)
			}
		}
		before, after := a.Around()
		if got := before + "|" + after; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnAreaIsDrawnByWordsAndTheCaretStaysInSight(t *testing.T) {
	th := theme.New(theme.Options{Plain: true})
	a := &Area{}
	a.Insert("remind me of the plants\ntomorrow at nine")
	want := []string{"remind me of  ", "the plants    ", "tomorrow at   ", "nine          "}
	if d := cmp.Diff(want, a.Lines(Brush{Theme: th}, 14, 9, true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[2:], a.Lines(Brush{Theme: th}, 14, 2, true)); d != "" {
		t.Error(d)
	}
}

func TestOtherKeysAreLeftAlone(t *testing.T) {
	for kind, open := range editors() {
		f := open()
		f.Insert("text")
		for _, key := range []string{"enter", "esc", "ctrl+v", "shift+left"} {
			if f.Update(press(key)) || f.Text() != "text" {
				t.Errorf("%s: %s was taken", kind, key)
			}
		}
		if f.Update(tea.KeyPressMsg{Code: 'x', Text: "x", Mod: tea.ModAlt}) {
			t.Errorf("%s: alt+x was taken as text", kind)
		}
	}
}

func TestPastesAreCleaned(t *testing.T) {
	for kind, want := range map[string]string{"input": "ab c", "area": "ab\nc"} {
		f := editors()[kind]()
		f.Update(tea.PasteMsg{Content: "a\x1b[31mb\r\nc\u202e"})
		if f.Text() != want {
			t.Errorf("%s: got %q", kind, f.Text())
		}
		f.Insert(strings.Repeat("é", maxField))
		if n := len(f.Text()); n > maxField || n < maxField-2 {
			t.Errorf("%s of at most %d bytes holds %d", kind, maxField, n)
		}
	}
}

// TestWhatIsWrittenIsDrawnExactlyWithOneCaret writes anything with any keys.
func TestWhatIsWrittenIsDrawnExactlyWithOneCaret(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	caret := th.Paint(theme.Caret, "x")
	open := caret[:strings.Index(caret, "x")]
	keys := make([]string, 0, len(named))
	for k := range named {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	testkit.Check(t, func(t *rapid.T) {
		a, in := &Area{}, &Input{}
		for range rapid.IntRange(1, 12).Draw(t, "presses") {
			w, h := rapid.IntRange(1, 30).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "h")
			lines := a.Lines(Brush{Theme: th}, w, h, true)
			if len(lines) < 1 || len(lines) > h {
				t.Fatalf("%d lines, at most %d", len(lines), h)
			}
			lines = append(lines, in.Line(Brush{Theme: th}, w, true))
			for _, l := range lines {
				if n := seen(l); n != w {
					t.Fatalf("%q takes %d cells, want %d", l, n, w)
				}
			}
			if strings.Count(strings.Join(lines, ""), open) != 2 {
				before, after := a.Around()
				t.Fatalf("one caret wanted in %q (%q|%q)", lines, before, after)
			}
			var msg tea.Msg = named[rapid.SampledFrom(keys).Draw(t, "key")]
			if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				msg = tea.PasteMsg{Content: text().Draw(t, "text")}
			}
			a.Update(msg)
			in.Update(msg)
		}
	})
}

// TestAnEditorIsAStringAndACaret compares both editors with the simplest one.
func TestAnEditorIsAStringAndACaret(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"area", "input"}).Draw(t, "kind")
		f, text, at := editors()[kind](), "", 0
		for range rapid.IntRange(1, 30).Draw(t, "presses") {
			switch k := rapid.SampledFrom([]string{"left", "right", "backspace", "delete", "x", "lines"}).Draw(t, "key"); k {
			case "left":
				at = max(0, at-1)
				f.Update(named[k])
			case "right":
				at = min(len(text), at+1)
				f.Update(named[k])
			case "backspace":
				if at > 0 {
					text, at = text[:at-1]+text[at:], at-1
				}
				f.Update(named[k])
			case "delete":
				text = text[:at] + text[min(len(text), at+1):]
				f.Update(named[k])
			case "x":
				text, at = text[:at]+"x"+text[at:], at+1
				f.Update(press("x"))
			case "lines":
				s := "a b"
				if kind == "area" {
					s = "a\nb"
				}
				text, at = text[:at]+s+text[at:], at+len(s)
				f.Update(tea.PasteMsg{Content: s})
			}
			before, after := around(f)
			if d := cmp.Diff([]string{text[:at], text[at:]}, []string{before, after}); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestAWideCharacterIsWrittenInTheNarrowestColumn(t *testing.T) {
	b := Brush{Theme: theme.New(theme.Options{Plain: true})}
	a := &Area{}
	for _, step := range []struct {
		w   int
		msg tea.Msg
	}{
		{1, tea.PasteMsg{Content: " "}}, {1, named["alt+left"]}, {2, tea.PasteMsg{Content: "❤️"}},
	} {
		a.Lines(b, step.w, 1, true)
		a.Update(step.msg)
	}
	if a.Text() != "❤️ " {
		t.Errorf("%q is written", a.Text())
	}
}

// textarea 2.2.1 panics where a character of two code points ends a line and the caret is on the space
// behind it. Nothing that was written may be lost by that.
func TestTheSpaceBehindAHeartThatEndsALineCanBeReached(t *testing.T) {
	th := theme.New(theme.Options{Plain: true})
	for w := 8; w < 20; w++ {
		for n := range 2 * w {
			a := &Area{}
			before := strings.Repeat("x", n) + "❤️"
			for _, msg := range []tea.Msg{tea.PasteMsg{Content: before + "a "}, named["left"], named["left"], named["alt+d"], tea.KeyPressMsg{Code: 'c', Text: "c"}} {
				a.Update(msg)
				a.Lines(Brush{Theme: th}, w, 3, true)
			}
			if got := a.Text(); got != before+"c " {
				t.Fatalf("in %d cells: %q, want %q", w, got, before+"c ")
			}
		}
	}
}
