package plain

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func newPrinter() (*printer, *bytes.Buffer) {
	var b bytes.Buffer
	return &printer{w: &b, snap: &core.Snapshot{}}, &b
}

func TestLinesAreWrittenAtOnce(t *testing.T) {
	p, written := newPrinter()
	p.answer("one\n\n  two  \n")
	p.fail("three")
	if written.Len() > 0 {
		t.Fatalf("wrote %q before flush", written)
	}
	testkit.Must(t, p.flush())
	want := []string{"one", "two", "error: three", ""}
	for i, line := range strings.Split(written.String(), "\n") {
		if !strings.HasSuffix(line, want[i]) {
			t.Errorf("line %d is %q, want %q", i+1, line, want[i])
		}
	}
}

// Whatever is printed, a listener gets a few lines at once, and all of them in order.
func TestALongAnswerContinuesWithMore(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5*maxLines).Draw(t, "lines")
		p, written := newPrinter()
		var want, got []string
		for i := range n {
			want = append(want, strconv.Itoa(i))
		}
		p.answer(strings.Join(want, "\n"))
		for {
			left := len(p.rest)
			p.end()
			testkit.Must(t, p.flush())
			lines := strings.Split(strings.TrimSpace(written.String()), "\n")
			written.Reset()
			if left > 0 {
				if last := lines[len(lines)-1]; !strings.HasPrefix(last, "and "+strconv.Itoa(left)+" more line") {
					t.Fatalf("%d lines are left, and it says %q", left, last)
				}
				lines = lines[:len(lines)-1]
			}
			if len(lines) > maxLines && left > 0 {
				t.Fatalf("%d lines at once", len(lines))
			}
			got = append(got, lines...)
			if left == 0 {
				break
			}
			p.more(rapid.Bool().Draw(t, "all"))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("heard %q", got)
		}
	})
}

func TestOnlyNoticesAreKept(t *testing.T) {
	c := newConsole(t.Context(), nil, nil, "", "")
	c.snap.At = time.Unix(1, 0)
	for _, kind := range []string{kindRun, string(notice.Info), kindUpdate} {
		c.keep(event{kind: kind, words: "words"})
	}
	if all := c.past.All(); len(all) != 1 || all[0].Level != notice.Info || !all[0].At.Equal(c.snap.At) {
		t.Errorf("kept are %+v", all)
	}
}

func TestABlankLineOfACallIsRead(t *testing.T) {
	if got := callLines("ls  \n \nend"); !slices.Equal(got, []string{"ls", textBlank, "end"}) {
		t.Errorf("%q", got)
	}
}

// Whatever a call would do, the lines of waits N hold all of it, in order.
func TestNothingOfACallIsLeftOut(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := clean.Text(rapid.StringOf(rapid.SampledFrom([]rune("ab ä\n(⏎)"))).Draw(t, "text"))
		text += strings.Repeat(rapid.SampledFrom([]string{"", "x", "wide ", "\n"}).Draw(t, "tail"), rapid.IntRange(0, 3*maxWidth).Draw(t, "times"))
		var whole strings.Builder
		for _, l := range callLines(text) {
			if n := len([]rune(l)); n > maxWidth {
				t.Fatalf("a line has %d characters", n)
			}
			if l == textBlank {
				l = ""
			}
			whole.WriteString(l)
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") } // spaces at ends are not heard
		if got, want := bare(whole.String()), bare(text); got != want {
			t.Fatalf("reads %q of %q", got, want)
		}
	})
}

// Whatever is typed, what it finds is one of the things, and only what it names.
func TestAPickIsAlwaysWhatTheWordsName(t *testing.T) {
	word := rapid.SampledFrom([]string{"email", "sweep", "tea", "medication", "refill", "Tea"})
	title := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), " ")
	})
	testkit.Check(t, func(t *rapid.T) {
		var things []thing
		for i, name := range rapid.SliceOfN(title, 0, 6).Draw(t, "titles") {
			things = append(things, thing{id: fmt.Sprintf("%08x", 0xa0000000+i), title: name})
		}
		typed := title.Draw(t, "typed")
		found := command.Pick(things, thing.named, typed)
		fits := 0
		for _, one := range things {
			if words.HoldsAll(one.title, typed) {
				fits++
			}
		}
		if (fits > 0) != (len(found) > 0) || len(found) > fits {
			t.Fatalf("%q finds %d of %d in %v", typed, len(found), fits, things)
		}
		for _, one := range found {
			if !words.HoldsAll(one.title, typed) {
				t.Fatalf("%q finds %q", typed, one.title)
			}
		}
	})
}

func TestSignsAndColumnsBecomeWords(t *testing.T) {
	got := spoken("capacity 5 → 6 · full — soon\n/model [a|b]       show it\n**model**: a `a` `b`\nrun `init`")
	if want := "capacity 5 to 6, full, soon\n/model [a or b], show it\nmodel: a (a, b)\nrun init"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := spoken("Total cost:            $0.51\nUsage by model:"), "Total cost: $0.51\nUsage by model:"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tailText(tail.Line{Kind: tail.Text, Text: "a → b"}); got != "a → b" {
		t.Errorf("the model's words became %q", got)
	}
}

func TestAFireWhoseCheckFoundNothingIsSaidInWords(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	s := &core.Snapshot{At: at.Add(time.Minute)}
	got := entryText(s, schedule.Entry{ID: "aaaa1111", Description: "Look for mail", FireTime: at, Kind: routines.KindRoutine, Tag: "nothing new"}, "")
	if !strings.HasPrefix(got, "09:00 Look for mail") || !strings.Contains(got, "nothing new") {
		t.Errorf("%q", got)
	}
}

func TestEveryCommandIsInHelpAndDoesSomething(t *testing.T) {
	all := help("all") + "\n"
	for _, c := range command.List(command.InPlain) {
		if n := strings.Count(all, "\n"+shortText(c)+"\n"); n != 1 {
			t.Errorf("help has %s %d times", c.Name, n)
		}
		shell := c.In&command.InShell != 0
		if handlers[c.Name] == nil && c.Make == nil && !shell {
			t.Errorf("%s is done in no way", c.Name)
		}
	}
	if n := strings.Count(help(""), "\n"); n != len(command.Groups)+1 {
		t.Errorf("help has %d line breaks", n)
	}
	for line := range strings.Lines(all) { // nothing is read badly
		if strings.ContainsAny(line, "→·×─│•`\t") || strings.Contains(strings.TrimRight(line, "\n"), "  ") || len(line) > 200 {
			t.Errorf("%q", line)
		}
	}
	for _, g := range command.Groups {
		if g.Title() == "" || !strings.Contains(all, groupText(g)) || !strings.Contains(help(""), "\n"+string(g)+": ") {
			t.Errorf("help lacks the group %s", g)
		}
	}
}

func TestReadOnlyRefusesEveryCommandThatChangesTheBot(t *testing.T) {
	play(t, Options{Typed: true, ReadOnly: true}, func(s *stage) {
		for _, c := range command.List(command.InPlain) {
			if c.Writes {
				one(t, s.types(cmp.Or(c.Example, c.Name)), "refused, this is read-only")
			}
		}
		if did := s.bot.takes(); len(did) > 0 {
			t.Errorf("did %v", did)
		}
	})
}

// A line that begins with the name of a command, or with a word near one, is taken for a command that is not quite right if a person types it, and
// one word sends it to the agent. From a pipe it goes there at once. The name of a command alone is no sentence, and a number names no words.
func TestASentenceThatBeginsLikeACommandIsForTheAgent(t *testing.T) {
	sentences := []string{
		"pause for a walk", "stop worrying about that", "list my reminders", "preview of coming attractions", "add milk to the list", "edit my essay",
		"deliver the parcel tomorrow", "read this for me", "help me with my taxes", "settings of the oven", "day trip to Rome", "tasks are piling up",
		"statsu is down", "costs x", "snooze email", "yes that is fine", "/pause for a walk",
	}
	sends := func(s *stage, line, typed string) {
		one(t, s.types(typed), "sent")
		if did := s.bot.takes(); !slices.Contains(did, "Say Text="+strings.TrimPrefix(line, "/")) {
			t.Errorf("%s: did %v", line, did)
		}
	}
	play(t, Options{Typed: true}, func(s *stage) {
		for _, line := range sentences {
			said := s.types(line)
			if last := said[len(said)-1]; last != textToAgent || len(said) < 2 {
				t.Fatalf("%s: heard %q", line, said)
			}
			sends(s, line, "yes")
			s.types(line)
			one(t, s.types("no"), "nothing changed")
		}
	})
	play(t, Options{}, func(s *stage) {
		for _, line := range append(sentences, "hello", "statsu") {
			sends(s, line, line)
		}
		one(t, s.types("fire"), "error: fire takes TASK, as in fire email")
		if said := s.types("stop 3"); said[0] == "sent" {
			t.Errorf("heard %q", said)
		}
	})
}
