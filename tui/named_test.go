package tui

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
	"ollimbot/tui/view"
)

// otherKeys gives every row of the table that can be changed keys that nothing
// else on the screen is written with, and says which names have become wrong.
func otherKeys(t *testing.T) (keys action.Keys, old map[string]bool) {
	t.Helper()
	signs := map[string]string{}
	old = map[string]bool{}
	var changes []action.Change
	for _, a := range (action.Keys{}).All() {
		if slices.Contains([]action.ID{action.Interrupt, action.Back, action.Redraw}, a.ID) {
			continue
		}
		c := action.Change{Pane: a.Pane, ID: a.ID}
		for _, k := range a.Keys {
			if signs[k] == "" {
				signs[k] = string(rune('А' + len(signs)))
			}
			c.Keys = append(c.Keys, signs[k])
			old[action.KeyName(k, false)] = true
		}
		changes = append(changes, c)
	}
	delete(old, "h") // of "3 h"
	keys, refused := action.Keys{}.Change(changes)
	if len(refused) > 0 {
		t.Fatalf("refused: %+v", refused)
	}
	return keys, old
}

// namedScenes are states in which something on the screen speaks of keys.
func namedScenes() map[string]core.Snapshot {
	muted, quiet, resumed, spoken := busyDay(day), busyDay(day), talkDay(), fullDay()
	muted.Budget.State = budget.State{RefillRateMinutes: 90}
	empty := core.Snapshot{At: day, Zone: time.UTC}
	quiet.Schedule = schedule.View{Window: "next 3h"}
	fork := *resumed.Fork
	fork.Resumed, fork.Asks = true, false
	resumed.Fork, resumed.Approvals = &fork, nil
	spoken.Engine.LoginNeeded = true
	broken := quiet
	broken.Schedule.Problems = fullDay().Schedule.Problems
	spoken.Chat = append(slices.Clone(spoken.Chat), transcript.Entry{ID: "9", At: day, Role: transcript.Notice, Text: "said"})
	return map[string]core.Snapshot{"full": fullDay(), "talk": talkDay(), "muted": muted, "empty": empty, "quiet": quiet, "resumed": resumed, "spoken": spoken, "broken": broken}
}

func TestNothingNamesAKeyThatTheUserHasChanged(t *testing.T) {
	keys, old := otherKeys(t)
	opened := func(snap core.Snapshot, focus action.Pane) *root {
		r := newRoot(t.Context(), still{snap: snap, read: fullTail}, Options{
			Output: &bytes.Buffer{}, Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8"},
		})
		r.terminal.screen = screen.New(t.Context(), &bytes.Buffer{}, nil)
		r.prefs.keys, r.w, r.h = keys, 160, 50
		r.refresh()
		r.setFocus(focus)
		return r
	}
	for name, snap := range namedScenes() {
		r := opened(snap, action.Forks)
		for _, p := range action.AllPanes {
			r.setFocus(p)
			for _, size := range [][2]int{{160, 50}, {80, 24}, {50, 12}, {30, 8}, {20, 4}} {
				r.w, r.h, r.zoom = size[0], size[1], false
				namesNone(t, fmt.Sprintf("%s, %s, %v", name, p, size), r, old)
			}
			r.w, r.h, r.zoom = 160, 50, true
			namesNone(t, fmt.Sprintf("%s, %s, zoomed", name, p), r, old)
		}
		for _, a := range keys.All() {
			if a.Pane == action.Everywhere && name != "full" && name != "empty" {
				continue // it says the same
			}
			r := opened(snap, a.Pane)
			for range 2 { // what is switched on is switched off by the second
				r.act(a)
				namesNone(t, name+", "+string(a.ID), r, old)
			}
		}
	}
	r := opened(talkDay(), action.Budget)
	r.calls.waiting = nil
	r.done(doneMsg{command: command.SetBudget{}, outcome: command.Outcome{Message: "set", Undo: command.SetBudget{}}})
	r.paste(tea.PasteMsg{Content: "x"})
	r.say(notice.Info, fmt.Sprintf(textMouseOff, r.names().Name(action.Mouse)))
	namesNone(t, "toasts", r, old)
	for _, offers := range []bool{false, true} {
		if offers {
			r.o.Demo, r.o.Restart, r.o.Init = func() {}, func() {}, []string{"init"}
		}
		r.open(dialog.NewWelcome(r.context(r.focus), "", dialog.Offers{Demo: offers, SetUp: offers}))
		namesNone(t, "welcome", r, old)
	}
	for _, id := range []action.ID{action.TailFind, action.TailNext, action.TailWrap, action.TailRight, action.TailUp} {
		for _, p := range []action.Pane{action.Forks, action.Chat, action.Logs} {
			r := opened(fullDay(), p)
			r.answer(r.panes[p].Do(r.context(p), id))
			for _, k := range []string{"t", "h", "enter"} {
				if r.panes[p].Capture() {
					r.panes[p].Type(r.context(p), press(k))
				}
			}
			namesNone(t, "tail "+string(p), r, old)
		}
	}
}

// namesNone expects that nothing that the dashboard says and draws has an old
// name in a key's place.
func namesNone(t *testing.T, where string, r *root, old map[string]bool) {
	t.Helper()
	mine := map[string]bool{} // the keys of what has all of them now
	note := func(hints []key.Binding) {
		for _, b := range hints {
			for _, k := range append(strings.Split(b.Help().Key, "/"), b.Help().Key) {
				mine[k] = true
			}
		}
	}
	for _, d := range r.dialogs {
		note(d.Hint())
		if _, ok := d.(*dialog.Question); ok { // the keys of its answers are fixed
			for _, k := range strings.Fields("y n s c i d") {
				mine[k] = true
			}
		}
	}
	if h, ok := r.panes[r.focus].(interface{ Hint() []key.Binding }); ok && r.panes[r.focus].Capture() {
		note(h.Hint())
	}
	if r.focus == action.Forks && r.whole() {
		mine["$"] = true // the head of a column
	}
	r.toasts.Dismiss(time.Now()) // a toast cuts words, too; what it says is looked at by itself
	lines := view.Frame(r.view())
	if n := len(r.dialogs); n > 0 { // it cuts the words beside it
		lines = append(r.dialogs[n-1].Draw(r.context(r.focus), r.w-2, r.h-4), lines[len(lines)-1])
	}
	for _, s := range r.toasts.All() {
		lines = append(lines, s.Text)
	}
	for _, l := range lines {
		for _, found := range append(keyWordsIn(ansi.Strip(l), old), painted(r.prefs.theme, l, old)...) {
			if !mine[found] {
				t.Errorf("%s: %q is named in %q", where, found, ansi.Strip(l))
			}
		}
	}
}

// keyWordsIn are the names that stand as words of their own in a line, but for
// those that are words, numbers or signs there too.
func keyWordsIn(line string, old map[string]bool) (found []string) {
	words := strings.Fields(line)
	for i, w := range words {
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		bare := strings.Trim(w, "│,.;:")
		for _, name := range append([]string{w, bare}, strings.Split(bare, "/")...) {
			if old[name] && !slices.Contains(found, name) && !natural(name, before, after, strings.HasSuffix(w, ",")) {
				found = append(found, name)
			}
		}
	}
	return found
}

// natural reports that a name is no key where it is: an article, a number or
// its unit, a sign between numbers, a glyph.
func natural(name, before, after string, comma bool) bool {
	number := func(s string) bool {
		return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "│0123456789.,:/$") == ""
	}
	verb := after == "opens" || after == "goes" || after == "shows"
	switch {
	case name == "a", name == "h", strings.HasPrefix(name, "!") && !verb:
		return true
	case number(name):
		return !comma && !verb
	case number(before):
		return true
	case name == "/", name == "&": // the mark of a search or a filter, and what commands begin with
		return number(before) || before == "with" || strings.Trim(before, "│┤─") == ""
	case name == "-", name == ">", name == "→":
		return true
	}
	return false
}

// painted are the names that are drawn as keys are.
func painted(th *theme.Theme, line string, old map[string]bool) (found []string) {
	style, _, _ := strings.Cut(th.Paint(theme.Key, "x"), "x")
	if style == "" {
		return nil
	}
	for _, part := range strings.Split(line, style)[1:] {
		part, _, _ = strings.Cut(part, "\x1b")
		for _, name := range strings.FieldsFunc(part, func(r rune) bool { return r == ' ' }) {
			if old[name] && !strings.HasPrefix(part, " /") && !strings.HasPrefix(part, " &") { // the mark of a search and of a filter
				found = append(found, name)
			}
		}
	}
	return found
}
