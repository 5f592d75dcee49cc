package widget

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
)

// bench is a tail view over a ring, drawn without styling.
type bench struct {
	*TailView
	ring  *tail.Ring
	theme *theme.Theme
	w, h  int
	n     int
	reads int
	reply Reply // to the last verb
}

func newBench(size, w, h int) *bench {
	return &bench{TailView: NewTailView("run", false), ring: tail.New(size), theme: bare, w: w, h: h}
}

// write adds lines "line 1", "line 2", … and takes them over.
func (b *bench) write(n int) {
	for range n {
		b.n++
		b.ring.Add(tail.Line{At: time.Unix(int64(b.n), 0).UTC(), Kind: tail.Text, Text: fmt.Sprintf("line %d", b.n)})
	}
	b.sync()
}

func (b *bench) say(kind tail.Kind, text string) {
	b.ring.Add(tail.Line{Kind: kind, Text: text})
	b.sync()
}

func (b *bench) sync() {
	b.Sync(func(_ string, from tail.Cursor) tail.Page { b.reads++; return b.ring.Read(from) }, b.ring.Len(), time.UTC)
}

// screen draws and trims, for a w too narrow for columns.
func (b *bench) screen() []string {
	lines := b.Lines(b.theme, b.w, b.h, true)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(l, " ")
	}
	return out
}

func (b *bench) types(text string) { tuitest.Type(text, func(key tea.KeyPressMsg) { b.Type(key) }) }

// asks writes a filter or a search over what is there, and keeps it.
func (b *bench) asks(verb, words string) {
	b.Do(verb)
	b.Type(press("ctrl+u"))
	b.types(words)
	b.Type(press("enter"))
}

// A story is a row of a table: a ring of so many lines, a screen, and its steps, a line each. The screen is drawn after each input.
//
//	+7                  seven lines come, called line 1 and so on
//	(error: a b) (a b)  a line comes, of a kind or of kind text
//	down=3 wrap         a verb of the tail, three times
//	[tree] {land}       a filter, a search is written and kept
//	"land" enter        what is typed into them; end ends them
//	ascii keep=10       another terminal; so many lines are kept
//
// What is expected are texts with " | " between them:
//
//	¦line 1¦▸line 2¦    the screen, a line behind each ¦, without the blank for the mark; in it … is anything, once a line
//	following, 3 new    how it is; 5 kept, 2 reads: so many lines are kept, the ring was read as often
//	copies text         the last verb copied it; says text: it said so, by its beginning
//	hints enter keep …  the keys of the help line
//	stays               all lines but the last two, which may have counts, are as before the step
type story struct {
	name       string
	ring, w, h int
	steps      string
}

func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, row := range stories {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(row.ring, row.w, row.h)
			for s := range tuitest.Steps(row.steps) {
				before := b.screen()
				for _, in := range s.Inputs {
					b.input(t, in)
					b.screen()
				}
				for _, text := range s.Texts {
					if got, ok := b.is(text, before); !ok {
						t.Errorf("%s: %s: it is %q", s.Line, text, got)
					}
				}
			}
		})
	}
}

func (b *bench) input(t *testing.T, in string) {
	t.Helper()
	inner := in[1 : max(2, len(in))-1]
	verb, number, _ := strings.Cut(in, "=")
	times, _ := strconv.Atoi(number)
	switch {
	case in[0] == '+':
		n, err := strconv.Atoi(in[1:])
		testkit.Must(t, err)
		b.write(n)
	case in[0] == '(':
		kind, text, of := strings.Cut(inner, ": ")
		if !of {
			kind, text = string(tail.Text), inner
		}
		text, number, _ = strings.Cut(text, " ×")
		times, _ = strconv.Atoi(number)
		b.say(tail.Kind(kind), strings.Repeat(text+" ", max(0, times-1))+text)
	case in[0] == '[':
		b.asks("filter", inner)
	case in[0] == '{':
		b.asks("find", inner)
	case in[0] == '"':
		b.types(inner)
	case in == "enter", in == "backspace":
		b.Type(press(in))
	case in == "end":
		b.EndFind()
	case in == "ascii":
		b.theme = theme.New(theme.Options{Plain: true, ASCII: true})
	case in == "sync":
		b.sync()
	case verb == "keep":
		b.keep = times
	default:
		for range max(1, times) {
			var ok bool
			if b.reply, ok = b.Do(verb); !ok {
				t.Fatalf("no verb %s", verb)
			}
			b.screen()
		}
	}
}

// is reports whether a text is so, and what is instead.
func (b *bench) is(text string, before []string) (got string, ok bool) {
	kind, rest, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(text, "¦"):
		for _, l := range b.screen() {
			got += "¦" + strings.TrimPrefix(l, " ")
		}
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(text), "…", ".*") + "$"
		return got, regexp.MustCompile(pattern).MatchString(got)
	case kind == "copies":
		return b.reply.Copy, b.reply.Copy == rest
	case kind == "says":
		return b.reply.Toast, strings.HasPrefix(b.reply.Toast, rest) && rest != "" || b.reply.Toast == rest
	case text == "stays":
		got = strings.Join(b.screen(), "\n")
		return got, strings.HasPrefix(got, strings.Join(before[:max(1, len(before)-2)], "\n"))
	}
	hints := "hints"
	for _, key := range b.Hint() {
		hints += " " + key.Help().Key + " " + key.Help().Desc
	}
	for _, got := range []string{hints, b.State(), fmt.Sprint(b.New(), " new"), fmt.Sprint(b.Len(), " kept"), fmt.Sprint(b.reads, " reads")} {
		if got == text {
			return "", true
		}
	}
	return fmt.Sprintf("%s, %d new, %d kept, %d reads", b.State(), b.New(), b.Len(), b.reads), false
}

func TestATailIsReadAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"it follows its end", 100, 14, 3, `
			   => ¦¦¦
			+2 => ¦line 1¦line 2¦
			+3 => ¦line 3¦line 4¦line 5 | following | 0 new`},
		{"scrolling up pauses it, and nothing moves", 1000, 14, 3, `
			ascii +10 up => ¦line 7¦line 8¦>line 9 | paused
			+7           => ¦line 7¦line 8¦>line 9 | 7 new
			+343         => ¦line 7¦line 8¦>line 9 | 350 new
			follow       => ¦line 358¦line 359¦line 360 | following`},
		{"a badge counts what is new", 1000, 28, 2, `
			+5 up +128 => ¦text   line 3¦▸text   line 4    ▼ 128 new
			down=9     => ¦▸text   line 12¦text   line 13   ▼ 120 new`},
		{"at the end it follows again", 100, 14, 3, `
			+10 pgup => ¦line 6¦line 7¦▸line 8
			down     => ¦line 7¦▸line 8¦line 9 | paused
			pgdn     => ¦line 8¦line 9¦line 10 | following`},
		{"every line can be marked and copied", 100, 14, 3, `
			+4 copy-line => copies line 4
			up copy-line => copies line 3
			up copy-line => copies line 2
			up copy-line => copies line 1
			up copy-line => copies line 1`},
		{"what came too fast is counted", 3, 60, 5, `
			+5 => ¦         note   2 earlier lines no longer kept¦00:00:03 text   line 3¦00:00:04 text   line 4¦00:00:05 text   line 5¦
			+4 => ¦00:00:05 text   line 5¦         note   1 line arrived too fast to keep¦00:00:07 text   line 7¦00:00:08 text   line 8¦00:00:09 text   line 9`},
		{"a paused reader is never robbed", maxTail, 14, 2, `
			+10000 home => ¦▸line 1¦line 2
			+500        => ¦▸line 1¦line 2 | 10000 kept | 500 new
			follow sync => ¦line 10499¦line 10500 | 10000 kept`},
		{"an unchanged tail is not read", 100, 14, 3, `
			+5 sync sync => 1 reads`},
		{"wrapping leaves the marked line in its place", 100, 12, 4, `
			ascii (1 word that is long) (2 words that are long) (3 words that are long) (4 words that are long) (5 words that are long) (6 words that are long) up=2 => ¦1 word tha~¦2 words th~¦3 words th~¦>4 words th~
			wrap => ¦3 words¦that are¦long¦>4 words
			wrap => ¦1 word tha~¦2 words th~¦3 words th~¦>4 words th~`},
		{"lines that are cut scroll sideways", 100, 12, 1, `
			(0123456789 0123456789 the end) => ¦0123456789…
			right => ¦‹89 the end
			left  => ¦0123456789…`},
		{"lines that fit do not move sideways", 100, 27, 3, `
			(a line of eighteen) (short) right=3 => ¦text   a line of eighteen¦text   short¦ | says `},
		{"sideways ends with the longest line on the screen", 100, 27, 3, `
			(far ×40) (begins, 123456789012345678) (short) (ends) right=9 => ¦text   ‹123456789012345678¦text   ‹¦text   ‹
			left => ¦text   begins, 1234567890…¦text   short¦text   ends`},
		{"what is wrapped anyway does not move and sets no end", 100, 27, 6, `
			(error: why ×12) (short)
			right => stays`},
		{"every terminal draws the mark of what is to the left", 100, 27, 1, `
			ascii (x日本 ×20) right => ¦text   <…`},
		{"an error has rows of its own, so that its cause is seen", 10, 40, 5, `
			(info: schedule loaded routines=12 reminders=4 and more) (error: commit refused dir=/home/ada/notes err="no git identity") => ¦      info   schedule loaded routines=…¦      error  commit refused¦             dir=/home/ada/notes¦             err="no git identity"¦
			(error: word ×200) => ¦…¦      error  word …¦…¦…¦…`},
		{"the oldest line is below the count of those that are gone", maxTail, 60, 3, `
			+10001 home      => ¦▸         note   1 earlier line no longer kept¦00:00:02 text   line 2¦00:00:03 text   line 3
			follow +70 home  => ¦▸         note   71 earlier lines no longer kept¦00:01:12 text   line 72¦00:01:13 text   line 73 | 10000 kept
			copy-line        => copies line 72
			up down          => ¦▸00:01:12 text   line 72¦00:01:13 text   line 73¦00:01:14 text   line 74`},
		{"a count that appears above a paused reader moves nothing", 1000, 28, 3, `
			keep=10 +10 up=5
			+2   => stays
			home => ¦▸note   2 earlier lines no …¦text   line 3¦text   line 4      ▼ 2 new`},
		{"a filter shows only what has its word", 100, 27, 5, `
			(a tree) (a house) (another Tree) (a car) [tree] => ¦text   a tree¦text   another Tree¦¦¦/tree        2 of 4 lines
			(a third tree) (a boat) => ¦text   a tree¦text   another Tree¦text   a third tree¦¦/tree        3 of 6 lines
			[!tree] => ¦text   a house¦text   a car¦text   a boat¦¦/!tree       3 of 6 lines
			end     => ¦text   a house¦text   another Tree¦text   a car¦text   a third tree¦text   a boat`},
		{"a filtered tail that is paused does not move", maxTail, 27, 4, `
			+3000 [line] up=2
			+3700 => stays
			+3700 +3700 +370 => stays
			+37000 => stays
			follow sync => ¦…¦…¦text   line 51470¦/line…`},
		{"a match behind the edge is brought into sight, and the end shows the beginnings", 100, 60, 4, `
			(short needle) (hay ×60) (far hay hay hay hay hay hay hay hay hay hay hay hay hay needle hay hay hay) (the end) {needle} => ¦…¦…¦▸…needle hay…¦&needle                                  esc ends   2 of 2
			next => ¦▸…short needle¦…¦…¦…
			end  => ¦…¦…¦…¦…the end`},
		{"a search keeps the context", 1000, 28, 7, `
			ascii (noise) (Landlord 1) (noise) (noise) (Landlord 2) (noise) (noise) (Landlord 3) (noise) (noise) (Landlord 4) (noise) find "land" => ¦…¦…¦…¦…¦…¦…¦&land…4 of 4
			enter prev prev => ¦text   noise¦text   noise¦>text   Landlord 2¦text   noise¦text   noise¦text   Landlord 3¦&land               2 of 4
			next=3 => ¦text   noise¦>text   Landlord 1¦…¦…¦…¦…¦&land…1 of 4 | paused
			end    => following`},
		{"the keys of what is written are named", 5, 30, 4, `
			find      => hints enter keep the search esc end it ↑/↓ previous, next match
			end filter => hints enter keep the filter esc show all rows`},
		{"a search counts what comes meanwhile", 5, 30, 4, `
			(hit 1) (miss) (hit 2) {hit} (hit 3) => ¦…¦…¦…¦…2 of 3`},
		{"a search says when there is nothing", 9, 30, 3, `
			(one) (two) next => says no search
			find "x"         => ¦…¦…¦…no match | following
			backspace enter  => ¦      text   one¦      text   two¦`},
		{"after the end was seen a filter makes nothing new", maxTail, 60, 6, `
			+300 pgup {line 2} end [7] end +200 follow +200 home [line 19] end => 0 new`},
		{"a filter counts what is new of what it shows", maxTail, 60, 4, `
			+20 up +20 [5] home up => 1 new
			end                    => 15 new`},
	})
}

func TestTheLinesOfATailHaveTheColoursOfTheirKinds(t *testing.T) {
	b := newBench(100, 50, 14)
	b.theme = tuitest.Colours
	for _, kind := range []tail.Kind{tail.Text, tail.Think, tail.Tool, tail.Result, tail.Ping, tail.Report, tail.Refuse, tail.Note, tail.Error, tail.Debug, tail.Info, tail.Warn, "other"} {
		b.ring.Add(tail.Line{At: time.Unix(3600, 0), Kind: kind, Text: "one word=two"})
	}
	b.sync()
	b.asks("find", "two")
	b.Do("up")
	var got []string
	for _, line := range b.Lines(b.theme, b.w, b.h, true) {
		got = append(got, strings.TrimRight(tuitest.Painted(line), " "))
	}
	b.asks("filter", "is:error")
	for _, line := range b.Lines(b.theme, b.w, 4, true) {
		got = append(got, strings.TrimRight(tuitest.Painted(line), " "))
	}
	if d := cmp.Diff([]string{
		" ‹dim 01:00:00 ›‹strong text   ›one word=‹match two›",
		" ‹dim 01:00:00 ›‹think think  ›‹think one word=›‹match two›",
		" ‹dim 01:00:00 ›‹tool tool   ›one word=‹match two›",
		" ‹dim 01:00:00 ›‹dim result ›‹dim one word=›‹match two›",
		" ‹dim 01:00:00 ›‹ping ping   ›one word=‹match two›",
		" ‹dim 01:00:00 ›‹report report ›one word=‹match two›",
		" ‹dim 01:00:00 ›‹warn refuse ›one word=‹match two›",
		" ‹dim 01:00:00 ›‹accent note   ›‹dim one word=›‹match two›",
		" ‹dim 01:00:00 ›‹bad error  ›one word=‹match two›",
		" ‹dim 01:00:00 ›‹dim debug  ›‹dim one word=›‹match two›",
		" ‹dim 01:00:00 ›‹good info   ›one word=‹match two›",
		"‹select ‹accent ▸›‹select ‹dim 01:00:00 ›‹select ‹warn warn   ›‹select one word=‹match two›‹select                      ›",
		" ‹dim 01:00:00 ›other  one word=‹match two›",
		"‹key  &›‹strong two›                         ‹dim esc ends   ›‹accent 12 of 13 ›",
		"‹select ‹accent ▸›‹select ‹dim 01:00:00 ›‹select ‹bad error  ›‹select one word=‹match two›‹select                      ›",
		"",
		"‹key  &›‹strong two›                           ‹dim esc ends   ›‹accent 1 of 1 ›",
		"‹key  /›‹strong is:error›                          ‹accent 1 of 13 lines ›",
	}, got); d != "" {
		t.Error(d)
	}
	if got := strings.Join(b.states(), " "); got != "text think tool result ping report refuse note error debug info warn other" {
		t.Errorf("the filter offers %s", got)
	}
}

func TestCopyAllTakesTheNewestThatFit(t *testing.T) {
	b := newBench(20_000, 14, 3)
	b.write(3)
	if want := "00:00:01 text   line 1\n00:00:02 text   line 2\n00:00:03 text   line 3\n"; b.copyAll() != (Reply{want, "copied 3 lines"}) {
		t.Errorf("%+v", b.copyAll())
	}
	b.write(9000)
	all := b.copyAll()
	if len(all.Copy) > MaxCopy || !strings.HasSuffix(all.Copy, "line 9003\n") || !strings.HasPrefix(all.Toast, "copied the newest ") {
		t.Errorf("%d bytes, %q", len(all.Copy), all.Toast)
	}
}

// Where a filter goes, its marked line keeps its place on the screen and has its context again; so it does where the times go.
func TestTheMarkedLineKeepsItsPlace(t *testing.T) {
	b := newBench(1000, 60, 12)
	b.Wrap = true
	for i := range 300 {
		b.say(tail.Text, fmt.Sprint("line ", i, " ", strings.Repeat("words that run on ", 7)))
		b.say(tail.Text, fmt.Sprint("word ", i))
	}
	b.screen()
	b.asks("filter", "word 1")
	b.screen()
	b.up(3)
	for what, does := range map[string]func(){"the filter ends": func() { b.EndFind() }, "the times go": func() { b.Do("time") }, "they come again": func() { b.Do("time") }} {
		b.screen()
		marked, y := b.mark, b.lineOf(b.mark, b.top)
		does()
		screen := b.screen()
		if b.mark != marked || b.lineOf(marked, b.top) != y || !strings.HasPrefix(screen[y], "▸") {
			t.Errorf("%s: line %d was on %d, now line %d is on %d of\n%s", what, marked, y, b.mark, b.lineOf(b.mark, b.top), strings.Join(screen, "\n"))
		}
	}
	if screen := strings.Join(b.screen(), "\n"); !strings.Contains(screen, "line ") {
		t.Errorf("no context in\n%s", screen)
	}
}

// Whatever comes, however fast, and whatever is done: each line of the tail is
// either shown or counted, and no count is a line.
func TestEveryLineIsShownOrCounted(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		b := newBench(rapid.IntRange(1, 12).Draw(t, "ring"), 60, rapid.IntRange(1, 6).Draw(t, "h"))
		b.keep = rapid.IntRange(1, 12).Draw(t, "kept")
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			b.Do(rapid.SampledFrom([]string{"up", "down", "pgup", "pgdn", "home", "follow", "wrap", "time"}).Draw(t, "verb"))
			n := rapid.IntRange(0, 9).Draw(t, "lines")
			for range n {
				b.n++
				b.ring.Add(line(b.n))
			}
			if rapid.Bool().Draw(t, "look") {
				b.sync()
				b.screen()
			}
		}
		b.sync()
		b.screen()
		b.home()
		b.timeless = false
		h := b.h
		b.h = 100
		at := 0 // lines of the tail that are accounted for
		for _, l := range b.screen() {
			var number, missing int
			switch {
			case l == "":
			case scan(l, "text line %d", &number):
				if at++; number != at {
					t.Fatalf("line %d is where %d belongs:\n%s", number, at, strings.Join(b.screen(), "\n"))
				}
			case scan(l, "note %d", &missing):
				at += missing
			default:
				t.Fatalf("what is %q?", l)
			}
		}
		if at+int(b.behind) != b.n {
			t.Fatalf("%d of %d lines are accounted for:\n%s", at, b.n, strings.Join(b.screen(), "\n"))
		}
		b.h = h
		if text := b.copyAll().Copy; strings.Contains(text, "no longer kept") {
			t.Fatalf("the count is copied:\n%s", text)
		}
		b.Find()
		b.types("longer")
		if len(b.find.hits) > 0 {
			t.Fatal("the count is found")
		}
	})
}

func line(n int) tail.Line {
	return tail.Line{Kind: tail.Text, Text: fmt.Sprintf("line %d", n)}
}

// scan reads a number out of a drawn line, behind its columns.
func scan(l, format string, n *int) bool {
	words := strings.Join(strings.Fields(strings.TrimLeft(l, "▸ ")), " ")
	words = strings.ReplaceAll(words, ",", "")
	_, err := fmt.Sscanf(words, format, n)
	return err == nil
}

var numbers = regexp.MustCompile(`(?:red|green|blue) (\d+)\b`)

// Whatever is done, in whatever order: the lines are exact, a paused view does not move by itself, no more is kept than allowed, a filter shows
// what a plain loop would keep, and the badge counts what a plain list with a mark behind the newest line that was on the screen would count.
func TestAnyUseOfATailIsSound(t *testing.T) {
	words := []string{"red", "green", "blue", "!red", "", "!", "e", "7", "nothing"}
	word := rapid.SampledFrom(words)
	kind := rapid.SampledFrom([]tail.Kind{tail.Debug, tail.Info, tail.Warn, tail.Error})
	steps := []string{"grow", "grow", "up", "down", "pgup", "pgdn", "home", "follow", "next", "prev", "wrap", "time", "level", "copy-line", "copy-all", "filtered", "found", "end"}
	testkit.Check(t, func(t *rapid.T) {
		ring, calm := maxTail, rapid.Bool().Draw(t, "calm") // else anything comes and may be lost, at any size
		steps := steps
		if !calm {
			ring, steps = rapid.IntRange(1, 30).Draw(t, "ring"), append(steps[:len(steps):len(steps)], "left", "right", "type")
		}
		b := newBench(ring, 60, rapid.IntRange(2, 9).Draw(t, "h"))
		b.Wrap = rapid.Bool().Draw(t, "wrap")
		var all []tail.Line
		seen := 0
		look := func() {
			if b.Following() {
				seen = len(all)
			}
			for _, hit := range numbers.FindAllStringSubmatch(strings.Join(b.screen(), "\n"), -1) {
				n, _ := strconv.Atoi(hit[1])
				seen = max(seen, n)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if b.Following() { // all that is here now was here before the reader leaves
				seen = len(all)
			}
			if !calm {
				b.w, b.h = rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
			}
			switch step := rapid.SampledFrom(steps).Draw(t, "step"); step {
			case "grow":
				var before []string
				if first, end := b.bounds(); !calm && !b.Following() && first < end && b.h > 2 {
					b.screen()
					before = b.screen()
				}
				for range rapid.IntRange(1, 30).Draw(t, "lines") {
					l := tail.Line{At: time.Unix(0, 0), Kind: kind.Draw(t, "kind"), Text: fmt.Sprintf("%s %d", rapid.SampledFrom(words[:3]).Draw(t, "text"), len(all)+1)}
					if !calm {
						l.Text += strings.ReplaceAll(spanText().Draw(t, "more"), "\n", " ")
					}
					all = append(all, l)
					b.ring.Add(l)
				}
				b.sync()
				// The last line may get a badge, the search line a new count.
				if before != nil && before[0] != b.screen()[0] {
					t.Fatalf("the reader was moved from %q to %q", before, b.screen())
				}
			case "filtered":
				b.asks("filter", word.Draw(t, "filter"))
			case "found":
				b.asks("find", word.Draw(t, "find"))
			case "type":
				b.Do(rapid.SampledFrom([]string{"find", "filter"}).Draw(t, "opens"))
				b.Type(rapid.SampledFrom([]tea.Msg{press("r"), press("9"), press("backspace"), press("enter"), press("esc"), press("up"), tea.PasteMsg{Content: "red"}}).Draw(t, "key"))
			case "end":
				b.EndFind()
			default:
				b.Do(step)
			}
			first, end := b.bounds()
			if rapid.Bool().Draw(t, "drawn") {
				look()
				if first, end = b.bounds(); first < end && (b.mark < first || b.mark >= end || b.leftOut(b.mark)) {
					t.Fatalf("the mark %d is left out, or not in [%d, %d)", b.mark, first, end)
				}
				for _, l := range b.Lines(b.theme, b.w, b.h, true) {
					if n := cellsOf(l); n != b.w {
						t.Fatalf("%q takes %d cells, want %d", l, n, b.w)
					}
				}
			}
			var kept, shown []tail.Line
			for _, l := range b.lines {
				if b.filter.keeps(l.Line, time.Time{}) {
					kept = append(kept, l.Line)
				}
			}
			for i := max(first, b.first); i < end; i++ {
				if !b.leftOut(i) {
					shown = append(shown, b.at(i))
				}
			}
			if d := cmp.Diff(kept, shown, cmpopts.EquateEmpty()); d != "" || b.Len() > maxTail {
				t.Fatalf("of %d lines (-loop +shown):\n%s", b.Len(), d)
			}
			if b.Following() {
				seen = len(all)
			}
			var fresh uint64
			for _, l := range all[seen:] {
				if b.filter.keeps(l, time.Time{}) {
					fresh++
				}
			}
			if calm && b.New() != fresh {
				t.Fatalf("%d are new, a list says %d (%d of %d seen)", b.New(), fresh, seen, len(all))
			}
		}
	})
}

// A second of a run that says 10,000 lines: thirty snapshots, each followed by
// a drawing.
func BenchmarkTailAbsorbsTenThousandLines(b *testing.B) {
	for _, wrap := range []bool{false, true} {
		b.Run(fmt.Sprintf("wrap=%v", wrap), func(b *testing.B) {
			ring := tail.New(maxTail)
			v := NewTailView("run", wrap)
			th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
			line := tail.Line{At: time.Unix(0, 0), Kind: tail.Text, Text: "Two need an answer today: the landlord asks about Thursday, and Dana waits for the numbers."}
			b.ReportAllocs()
			for b.Loop() {
				for range 30 {
					for range 334 {
						ring.Add(line)
					}
					v.Sync(func(_ string, from tail.Cursor) tail.Page { return ring.Read(from) }, ring.Len(), time.UTC)
					v.Lines(th, 90, 20, true)
				}
			}
		})
	}
}

func BenchmarkFindInTenThousandLines(b *testing.B) {
	x := newBench(maxTail, 80, 20)
	x.write(maxTail)
	x.find.matcher = newMatcher("line 77")
	for b.Loop() {
		x.Refind()
	}
}
