package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

// move is one thing that happens to an answer or to its network.
type move struct {
	kind  string
	text  string
	n     int
	pause time.Duration
}

func moves(t *rapid.T) []move {
	one := rapid.Custom(func(t *rapid.T) move {
		return move{
			kind: rapid.SampledFrom([]string{
				"append", "append", "append", "append", "long", "tool", "denied", "rewind", "status", "compact", "compacted", "delete", "old",
			}).Draw(t, "kind"),
			text: rapid.StringMatching(`([a-z]{1,9}[ \n]|🦊|é|\x1b\[31m|\t){0,30}`).Draw(t, "text"),
			n:    rapid.IntRange(1, 4000).Draw(t, "n"),
			pause: time.Duration(rapid.SampledFrom([]int{0, 1, 50, 300, 1500, 9000}).Draw(t, "pause")) *
				time.Millisecond,
		}
	})
	return rapid.SliceOfN(one, 1, 25).Draw(t, "moves")
}

// model is what an answer says, told in the plainest way.
type model struct {
	pieces []piece
	notes  int
}

type piece struct {
	kind string // text, tool, denied, note
	text string
}

func (m *model) play(v move) {
	open := m.notes > 0 && m.pieces[len(m.pieces)-1].kind == "note"
	switch v.kind {
	case "append", "long":
		if n := len(m.pieces); n > 0 && m.pieces[n-1].kind == "text" {
			m.pieces[n-1].text += v.text
		} else if v.text != "" {
			m.pieces = append(m.pieces, piece{"text", v.text})
		}
	case "tool", "denied":
		m.pieces = append(m.pieces, piece{v.kind, fmt.Sprint("Tool", v.n)})
	case "rewind":
		n := v.n
		for i := len(m.pieces) - 1; i >= 0 && n > 0; i-- {
			if p := &m.pieces[i]; p.kind == "text" {
				cut := min(n, len(p.text))
				p.text, n = p.text[:len(p.text)-cut], n-cut
			}
		}
	case "compact":
		if !open {
			m.pieces = append(m.pieces, piece{kind: "note"})
			m.notes++
		}
	}
}

// text is the answer without what compactions say.
func (m *model) text() string {
	var b strings.Builder
	row, denied := 0, 0
	more := func() {
		if row > maxRow {
			fmt.Fprintf(&b, "-# *+%d more", row-maxRow)
			if denied > 0 {
				fmt.Fprintf(&b, " · %d denied", denied)
			}
			b.WriteString("*")
		}
		row, denied = 0, 0
	}
	for _, p := range m.pieces {
		switch said := clean.Text(p.text); {
		case p.kind == "text" && said != "":
			more()
			b.WriteString(said)
		case p.kind == "note":
			more()
		case p.kind == "tool":
			if row++; row <= maxRow {
				b.WriteString("-# *" + p.text + "*")
			}
		case p.kind == "denied":
			if row++; row <= maxRow {
				b.WriteString("-# *~~" + p.text + "~~ — denied*")
			} else {
				denied++
			}
		}
	}
	more()
	return b.String()
}

func perform(a *Answer, r *room, v move) {
	switch v.kind {
	case "append", "long":
		half := len(v.text) / 2 // anywhere, in a character too
		a.Append(v.text[:half])
		a.Append(v.text[half:])
	case "tool", "denied":
		a.Tool(fmt.Sprint("Tool", v.n), v.kind == "denied")
	case "rewind":
		a.Rewind(v.n)
	case "status":
		a.Status("retry")
	case "compact":
		a.Compacting(agent.Compacting{Auto: true})
	case "compacted":
		a.Compacting(agent.Compacting{Auto: true, Done: true})
	case "delete":
		r.kill(-1)
	case "old":
		r.do(func() {
			if n := len(r.list); n > 0 {
				r.list[n-1].old = true
			}
		})
	}
	time.Sleep(v.pause)
}

// P2
func TestWhateverHappensAnAnswerRingsAtMostOnce(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		list := moves(rt)
		synctest.Test(t, func(t *testing.T) {
			r := newRoom()
			a := New(t.Context(), Options{Channel: r})
			for _, v := range list {
				if v.kind != "delete" && v.kind != "old" { // what the user deletes may ring again
					perform(a, r, v)
				}
			}
			a.End(t.Context(), true)
			rang, left := r.rings(), strings.Join(r.texts(), "\n")
			if len(rang) > 1 || len(rang) == 0 && !a.Empty() || strings.Contains(left, textWorking) || strings.Contains(left, "retry") || r.called.limited > 0 {
				rt.Errorf("rang %q, %+v, left:\n%s", rang, r.called, left)
			}
		})
	})
}

func TestWhateverHappensTheScreenSaysWhatTheAnswerSays(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		list := moves(rt)
		var m model
		for i := range list {
			switch v := &list[i]; v.kind {
			case "long":
				v.text = strings.ReplaceAll(words(v.n), "Line ", fmt.Sprintf("Line %d.", i)) // each line is there once
			case "rewind":
				v.n = v.n/40 + 1
			case "compacted": // only what has begun is over
				if len(m.pieces) == 0 || m.pieces[len(m.pieces)-1].kind != "note" {
					v.kind = "status"
				}
			}
			m.play(list[i])
			if last := len(m.pieces) - 1; list[i].kind == "compacted" && last >= 0 {
				m.pieces = append(m.pieces, piece{"text", ""}) // the next one is another
			}
		}
		faults := rapid.SliceOfN(rapid.SampledFrom([]trouble{fine, fine, fine, lost, unanswered}), 0, 60).Draw(rt, "faults")
		delay := time.Duration(rapid.SampledFrom([]int{2, 100, 3000}).Draw(rt, "delay")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			r, calls := newRoom(), 0
			r.unique, r.delay = true, delay
			r.fault = func(string) trouble {
				if calls++; calls <= len(faults) {
					return faults[calls-1]
				}
				return fine
			}
			a := New(t.Context(), Options{StatusLine: true, Channel: r})
			deleted := false
			for i, v := range list {
				if v.kind != "delete" || i < len(list)-1 { // the last one would not be noticed
					deleted = deleted || v.kind == "delete" && len(r.texts()) > 0
					perform(a, r, v)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			ids := a.End(ctx, true)
			if ctx.Err() != nil || r.called.limited > 0 && delay < time.Second {
				rt.Errorf("it ended with %v, %+v", ctx.Err(), r.called)
			}
			for _, w := range r.wrong {
				rt.Error(w)
			}
			var said strings.Builder // by the messages that are not notes of a compaction
			for _, text := range r.texts() {
				if !strings.HasPrefix(text, "-# *auto-compacted") {
					said.WriteString(text)
				}
				if strings.Contains(text, "Thinking") || strings.Contains(text, "retry") || !utf8.ValidString(text) {
					rt.Errorf("left over: %q", text)
				}
			}
			// A message that the user deleted is missed only if it had to change again.
			got, want := bare(said.String()), bare(m.text())
			if !deleted && (got != want || len(r.texts()) != len(ids)) || len(got) > len(want) {
				rt.Errorf("the screen says\n%q, the answer\n%q, messages %q", got, want, ids)
			}
		})
	})
}

func TestPartsOfATextThatAreFixedStay(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			words(300), words(1500), "```go\n", "```\n", "```", "`", "\n", strings.Repeat("🦊", 400), strings.Repeat("\n", 2500), strings.Repeat("x", 900),
		}), 1, 25).Draw(t, "pieces"), "")
		var l layout
		var fixed []string
		for at := 0; at < len(text); {
			at = min(len(text), at+rapid.IntRange(1, 2500).Draw(t, "growth"))
			for at < len(text) && !utf8.RuneStart(text[at]) {
				at++
			}
			l.set(text[:at])
			joined := ""
			for i, p := range l.parts {
				joined += p.Text
				if n := len(strings.TrimSpace(p.String())); n > 4*maxUnits {
					t.Fatalf("part %d has %d bytes", i, n)
				}
				if i < len(fixed) && p.String() != fixed[i] {
					t.Fatalf("part %d was %q, is %q", i, fixed[i], p.String())
				}
			}
			if joined != text[:at] {
				t.Fatalf("%q became %q", text[:at], joined)
			}
			if len(l.parts) == 0 {
				continue
			}
			shown := rapid.IntRange(0, len(l.parts)-1).Draw(t, "shown")
			l.show(shown)
			for len(fixed) < shown { // another follows those
				fixed = append(fixed, l.parts[len(fixed)].String())
			}
		}
	})
}

func TestAMessageThatAnotherFollowsNeverChanges(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			words(700), words(1950), words(30), strings.Repeat("x", 1985), "```abcdefghijklmn", "```go\n", "```py", "\n```\n", "``", "`", "\n", strings.Repeat("x", 60), strings.Repeat("🦊", 400),
		}), 1, 40).Draw(rt, "pieces")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 2000), len(pieces), len(pieces)).Draw(rt, "pauses")
		label := rapid.IntRange(0, 5).Draw(rt, "label")
		synctest.Test(t, func(t *testing.T) {
			r := newRoom()
			r.still = true
			a := New(t.Context(), Options{StatusLine: true, Channel: r})
			for i, piece := range pieces {
				if label > 0 && i%label == 0 { // it stands behind the text, which takes its message
					a.Status("retry")
					time.Sleep(time.Second)
				}
				a.Append(piece)
				time.Sleep(time.Duration(pauses[i]) * time.Millisecond)
			}
			a.End(t.Context(), true)
			for _, w := range r.wrong {
				rt.Error(w)
			}
		})
	})
}

func BenchmarkAppend(b *testing.B) {
	r := newRoom()
	r.delay = 0
	ctx, cancel := context.WithCancel(b.Context())
	a := New(ctx, Options{StatusLine: true, Channel: r})
	n := 0
	for b.Loop() {
		a.Append("a word ")
		if n += 7; n > 20_000 {
			a.Rewind(n)
			n = 0
		}
	}
	cancel()
	a.End(ctx, true)
}

func BenchmarkLookAt20000Characters(b *testing.B) {
	e := newEditor(&Answer{})
	text := words(20_000)
	e.a.draft.append(text[:19_000], time.Now())
	e.newest()
	for i := range e.layouts[0].parts {
		e.layouts[0].show(i)
	}
	at := 19_000
	for b.Loop() {
		if at++; at == len(text) {
			e.a.draft.rewind(at-19_001, time.Now())
			at = 19_000
			continue
		}
		e.a.draft.append(text[at:at+1], time.Now())
		e.newest()
	}
}
