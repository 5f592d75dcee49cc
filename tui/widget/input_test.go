package widget

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
)

// editing are keys that write nothing.
var editing = strings.Fields(`left right up down home end backspace delete enter esc alt+left alt+right alt+d
	ctrl+e ctrl+t ctrl+v shift+left shift+backspace ctrl+u ctrl+w ctrl+k ctrl+a`)

// press is a key by name, or a letter that is typed.
func press(name string) tea.KeyPressMsg {
	key, _ := tuitest.Key(name)
	return key
}

// written is a text that is being written, of one line or of many.
type written interface {
	Text() string
	Insert(s string)
	Update(msg tea.Msg) bool
}

// around is the text with | for the caret.
func around(f written) string {
	area, ok := f.(*Area)
	if !ok {
		area = &f.(*Input).area
	}
	before, after := area.Around()
	return before + "|" + after
}

var editors = map[string]func() written{
	"input": func() written { return &Input{} },
	"area": func() written {
		a := &Area{}
		a.Lines(Brush{Theme: bare}, 12, 3, true)
		return a
	},
}

func TestTextIsEditedAsTerminalsDo(t *testing.T) {
	for _, c := range []struct{ name, only, start, keys, want string }{
		{"typing", "", "", "a b", "ab|"},
		{"inserting", "", "ac", "left b", "ab|c"},
		{"backspace", "", "abc", "left backspace", "a|c"},
		{"backspace with shift", "", "abc", "shift+backspace", "ab|"},
		{"delete", "", "abc", "home delete", "|bc"},
		{"backspace at the start", "", "abc", "home backspace", "|abc"},
		{"delete at the end", "", "abc", "delete", "abc|"},
		{"whole characters", "", "a👍🏽", "backspace", "a|"},
		{"delete whole characters", "", "👍🏽a", "home delete", "|a"},
		{"left over a whole character", "", "e\u0301x", "left left", "|e\u0301x"},
		{"right over a whole character", "", "e\u0301x", "home right", "e\u0301|x"},
		{"line start", "", "one two", "home", "|one two"},
		{"erase the line", "", "one two", "left left ctrl+u", "|wo"},
		{"erase a word", "", "one two  ", "ctrl+w", "one |"},
		{"erase to the end", "", "one two", "home ctrl+k", "|"},
		{"erase the word ahead", "", "one two", "home alt+d", "| two"},
		{"erase the word ahead of the last letter", "", "ab", "left alt+d", "a|"},
		{"erase the word ahead of spaces", "", "ab ", "left alt+d", "ab|"},
		{"by words", "", "one two", "alt+left alt+left alt+right", "one| two"},
		{"up keeps the column", "area", "abc\ndef", "up", "abc|\ndef"},
		{"up at the top", "area", "abc", "up", "abc|"},
		{"down to a shorter line", "area", "abc\nd", "home up end down", "abc\nd|"},
		{"backspace joins lines", "area", "ab\ncd", "home backspace", "ab|cd"},
		{"delete joins lines", "area", "ab\ncd", "up end delete", "ab|cd"},
		{"up goes by the lines on the screen", "area", "one two three four", "up", "one two| three four"},
		{"left goes to the line above", "area", "ab\ncd", "home left", "ab|\ncd"},
	} {
		for kind, open := range editors {
			if c.only != "" && c.only != kind {
				continue
			}
			f := open()
			f.Insert(c.start)
			for key := range strings.FieldsSeq(c.keys) {
				if !f.Update(press(key)) {
					t.Errorf("%s, %s: %q was not taken", kind, c.name, key)
				}
			}
			if got := around(f); got != c.want {
				t.Errorf("%s, %s: %q, want %q", kind, c.name, got, c.want)
			}
		}
	}
}

func TestOtherKeysAreLeftAlone(t *testing.T) {
	for kind, open := range editors {
		f := open()
		f.Insert("text")
		for _, key := range []tea.KeyPressMsg{press("enter"), press("esc"), press("ctrl+v"), press("shift+left"), {Code: 'x', Text: "x", Mod: tea.ModAlt}} {
			if f.Update(key) || f.Text() != "text" {
				t.Errorf("%s: %s was taken", kind, key)
			}
		}
	}
}

func TestPastesAreCleaned(t *testing.T) {
	for kind, want := range map[string]string{"input": "ab c", "area": "ab\nc"} {
		f := editors[kind]()
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

func TestAnAreaIsDrawnByWordsAndTheCaretStaysInSight(t *testing.T) {
	a := &Area{}
	a.Insert("remind me of the plants\ntomorrow at nine")
	want := []string{"remind me of  ", "the plants    ", "tomorrow at   ", "nine          "}
	for h, want := range map[int][]string{9: want, 2: want[2:]} {
		if d := cmp.Diff(want, a.Lines(Brush{Theme: bare}, 14, h, true)); d != "" {
			t.Errorf("in %d lines (-want +got):\n%s", h, d)
		}
	}
}

// Anything is written with any keys.
func TestWhatIsWrittenIsDrawnExactlyWithOneCaret(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	caret, _, _ := strings.Cut(th.Paint(theme.Caret, "x"), "x")
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
				if n := cellsOf(l); n != w {
					t.Fatalf("%q takes %d cells, want %d", l, n, w)
				}
			}
			if strings.Count(strings.Join(lines, ""), caret) != 2 {
				t.Fatalf("one caret wanted in %q (%q)", lines, around(a))
			}
			var msg tea.Msg = press(rapid.SampledFrom(editing).Draw(t, "key"))
			if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				msg = tea.PasteMsg{Content: text().Draw(t, "text")}
			}
			a.Update(msg)
			in.Update(msg)
		}
	})
}

// Both editors are compared with the simplest one.
func TestAnEditorIsAStringAndACaret(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"area", "input"}).Draw(t, "kind")
		pasted := map[string]string{"area": "a\nb", "input": "a b"}[kind]
		f, text, at := editors[kind](), "", 0
		for range rapid.IntRange(1, 30).Draw(t, "presses") {
			k := rapid.SampledFrom([]string{"left", "right", "backspace", "delete", "x", "paste"}).Draw(t, "key")
			switch k {
			case "left":
				at = max(0, at-1)
			case "right":
				at = min(len(text), at+1)
			case "backspace":
				text, at = text[:max(0, at-1)]+text[at:], max(0, at-1)
			case "delete":
				text = text[:at] + text[min(len(text), at+1):]
			case "x":
				text, at = text[:at]+"x"+text[at:], at+1
			case "paste":
				text, at = text[:at]+pasted+text[at:], at+len(pasted)
			}
			if f.Update(map[bool]tea.Msg{true: tea.PasteMsg{Content: pasted}, false: press(k)}[k == "paste"]); around(f) != text[:at]+"|"+text[at:] {
				t.Fatalf("after %s it is %q, want %q", k, around(f), text[:at]+"|"+text[at:])
			}
		}
	})
}

func TestAWideCharacterIsWrittenInTheNarrowestColumn(t *testing.T) {
	a := &Area{}
	for i, msg := range []tea.Msg{tea.PasteMsg{Content: " "}, press("alt+left"), tea.PasteMsg{Content: "❤️"}} {
		a.Lines(Brush{Theme: bare}, 1+i/2, 1, true)
		a.Update(msg)
	}
	if a.Text() != "❤️ " {
		t.Errorf("%q is written", a.Text())
	}
}

// textarea 2.2.1 panics where a character of two code points ends a line and the caret is on the space
// behind it. Nothing that was written may be lost by that.
func TestTheSpaceBehindAHeartThatEndsALineCanBeReached(t *testing.T) {
	for w := 8; w < 20; w++ {
		for n := range 2 * w {
			a := &Area{}
			before := strings.Repeat("x", n) + "❤️"
			for _, msg := range []tea.Msg{tea.PasteMsg{Content: before + "a "}, press("left"), press("left"), press("alt+d"), press("c")} {
				a.Update(msg)
				a.Lines(Brush{Theme: bare}, w, 3, true)
			}
			if got := a.Text(); got != before+"c " {
				t.Fatalf("in %d cells: %q, want %q", w, got, before+"c ")
			}
		}
	}
}

func TestAKeyIsPressedByItsNameInTheHelpLine(t *testing.T) {
	for name, want := range map[string]string{
		"enter": "enter", "esc": "esc", "tab": "tab", "space": "space", "PgUp": "pgup", "PgDn": "pgdown", "↑": "up", "↓": "down", "←": "left", "→": "right",
		"up": "up", "down": "down", "left": "left", "right": "right", "ctrl+p": "ctrl+p", "alt+enter": "alt+enter", "x": "x", "0-9": "", "": "",
	} {
		if key, ok := Key(name); ok != (want != "") || ok && key.Keystroke() != want {
			t.Errorf("%q is %q, %v", name, key.Keystroke(), ok)
		}
	}
}

func TestASelectionMovesAsItsVerbsSay(t *testing.T) {
	l, at := List{At: 4}, []int{}
	verbs := strings.Fields("up down pgup pgdn bottom top end home follow up up pgdn nothing")
	for _, verb := range verbs {
		if known := l.Move(verb, 10, 4); known == (verb == "nothing") {
			t.Errorf("it knows %s: %v", verb, known)
		}
		at = append(at, l.At)
	}
	if d := cmp.Diff([]int{3, 4, 1, 4, 9, 0, 9, 0, 9, 8, 7, 9, 9}, at); d != "" {
		t.Errorf("%s (-want +got):\n%s", verbs, d)
	}
	var q Query
	q.Open()
	for key, want := range map[string]string{"up": "up", "down": "down", "pgup": "pgup", "pgdown": "pgdn", "x": ""} {
		if _, verb := q.Type(press(key)); verb != want {
			t.Errorf("in a filter %s moves the selection by %q", key, verb)
		}
	}
}
