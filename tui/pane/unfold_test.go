package pane_test

import (
	"reflect"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// unfold shows what was pasted.
func (s *stage) unfold() pane.Answer {
	return s.Type(s.c, tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl})
}

// writing is a chat in which something is being written.
func writing() *stage {
	s := open("chat")
	s.do(action.ChatWrite)
	return s
}

// hints are the keys of the help line.
func (s *stage) hints() string {
	var out []string
	for _, b := range s.Pane.(interface{ Hint() []key.Binding }).Hint() {
		out = append(out, b.Help().Key+" "+b.Help().Desc)
	}
	return strings.Join(out, ", ")
}

func TestAPasteUnfoldsWhereItStands(t *testing.T) {
	s := writing()
	s.keys(t, "see ")
	s.paste(strings.Repeat("a line\n", 11) + "the last")
	has(t, s.screen(80, 30), "see [pasted 12 lines]")
	has(t, s.hints(), "ctrl+o show the paste")
	if a := s.unfold(); !reflect.ValueOf(a).IsZero() {
		t.Errorf("unfolding wants %#v", a)
	}
	has(t, s.screen(80, 40), "a line", "the last")
	if screen := s.screen(80, 40); strings.Contains(screen, "pasted") || strings.Contains(s.hints(), "ctrl+o") {
		t.Errorf("the word still stands there:\n%s", screen)
	}
	s.keys(t, " words") // the caret stands behind it
	if say := said(t, s.press(t, tea.KeyEnter)); say.Text != "see "+strings.Repeat("a line\n", 11)+"the last words" {
		t.Errorf("sent %q", say.Text)
	}
}

func TestAPasteThatTheLineDoesNotBearIsReadOnAPage(t *testing.T) {
	for name, text := range map[string]string{
		"401 lines":    strings.Repeat("x\n", 400) + "x",
		"many letters": strings.Repeat("long words ", 2000) + "end",
		"a token":      strings.Repeat("x\n", 20) + "[pasted 21 lines]",
	} {
		t.Run(name, func(t *testing.T) {
			s := writing()
			s.paste(text)
			before := s.written()
			a := s.unfold()
			if read(a) != text || !strings.HasPrefix(a.Open.Title(), "pasted ") || s.written() != before {
				t.Errorf("%q, and %d bytes are shown", s.written(), len(text))
			}
			if say := said(t, s.press(t, tea.KeyEnter)); say.Text != text {
				t.Errorf("%d bytes are sent of %d", len(say.Text), len(text))
			}
		})
	}
}

func TestWhereNothingWasPastedTheKeyDoesNothing(t *testing.T) {
	s := writing()
	s.keys(t, "words")
	if a := s.unfold(); !reflect.ValueOf(a).IsZero() || s.written() != "words" || strings.Contains(s.hints(), "ctrl+o") {
		t.Errorf("%q, %q, %#v", s.written(), s.hints(), a)
	}
}

// written is the line that is being written, on a screen that is wide enough.
func (s *stage) written() string {
	screen := s.screen(4000, 30)
	_, line, _ := strings.Cut(screen[strings.LastIndex(screen, "▸"):], " ")
	return strings.TrimRight(line, " ")
}

func TestWhatIsSentIsTheSameFoldedOrNot(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{"a", "\n", "\n\n", "\t", " ", "\r\n", "世界", "é", "👨‍👩‍👧", "\x1b[31m", "\ufffd", "\xff", "[pasted 9 lines]", "[pasted 10 lines]", "long words "})
		return strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "pieces"), "") + strings.Repeat("\nx", rapid.IntRange(0, 12).Draw(t, "lines"))
	})
	testkit.Check(t, func(t *rapid.T) {
		folded, unfolded := writing(), writing()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "typed") {
				word := rapid.SampledFrom([]string{"w", "世界", " "}).Draw(t, "word")
				for _, s := range []*stage{folded, unfolded} {
					s.Type(s.c, tea.KeyPressMsg{Code: 'w', Text: word})
				}
				continue
			}
			paste := text.Draw(t, "paste")
			folded.paste(paste)
			unfolded.paste(paste)
			if rapid.Bool().Draw(t, "unfolded") {
				unfolded.unfold()
			}
		}
		enter := tea.KeyPressMsg{Code: tea.KeyEnter}
		want, _ := folded.Type(folded.c, enter).Do.(command.Say)
		got, _ := unfolded.Type(unfolded.c, enter).Do.(command.Say)
		if got.Text != want.Text {
			t.Fatalf("sent %q, folded %q", got.Text, want.Text)
		}
	})
}
