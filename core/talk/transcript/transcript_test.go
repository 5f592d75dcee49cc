package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
)

var here = time.FixedZone("here", 3600)

// book plays steps with a conversation. The last number of changes, errors and answers are in log.
type book struct {
	*Chat
	dir     *store.Dir
	s       *Stream
	ids     []post.MessageID
	log     []string
	changes int
}

func (b *book) restart(limit int) {
	b.Chat = New(Options{Dir: b.dir, Limit: limit, Zone: here})
	b.OnChange(func() { b.changes++ })
}

// do does a step: a verb with its words. Messages are named by their numbers.
func (b *book) do(t *testing.T, step string) (err error) {
	verb, text, _ := strings.Cut(step, " ")
	word, more, _ := strings.Cut(text, " ")
	number, _ := strconv.Atoi(word)
	id := func() post.MessageID { return b.ids[number-1] }
	send := func(p post.Post) error {
		id, err := b.Post(t.Context(), p)
		if i := slices.Index(b.ids, id); i >= 0 {
			b.log = append(b.log, fmt.Sprint("it is message ", i+1))
		} else if err == nil {
			b.ids = append(b.ids, id)
		}
		return err
	}
	switch verb {
	case "you", "notice":
		b.Add(Role(verb), text)
	case "post":
		return send(post.Post{Text: text})
	case "small":
		return send(post.Post{Text: text, Small: true})
	case "ping":
		return send(post.Post{Text: text, Context: "bg", Source: "Email\x07 sweep", Critical: true})
	case "nonce":
		return send(post.Post{Nonce: word, Text: more})
	case "files":
		return send(post.Post{Text: more, Files: strings.Split(word, ",")})
	case "as":
		b.ids = append(b.ids, post.MessageID(word))
		b.PostAs(post.MessageID(word), post.Post{Nonce: word, Text: more}, "Discord")
	case "edit":
		return b.Edit(t.Context(), id(), post.Post{Text: more, Embed: card("\x07")})
	case "from": // another surface, of somebody else
		b.AddFrom("Discord", post.MessageID(word), more, "mail")
	case "reword":
		b.Reword(id(), more)
	case "label":
		b.s.Label(label.Label(text))
	case "delete":
		return b.Delete(t.Context(), id())
	case "begin":
		b.s = b.Begin(Bot)
	case "says":
		b.s.Append(text)
	case "rewind":
		b.s.Rewind(number)
	case "tool":
		b.s.Tool(text)
	case "denied":
		b.s.Denied(text)
	case "interrupted":
		b.s.Interrupted(text)
	case "elsewhere":
		b.s.Elsewhere("Discord", []post.MessageID{post.MessageID(word), post.MessageID(more)})
	case "empty":
		b.log = append(b.log, fmt.Sprint("empty: ", b.s.Empty()))
	case "end":
		b.s.End()
	case "pass":
		time.Sleep(time.Minute)
	case "restart":
		b.restart(number)
	case "close":
		return b.Close()
	case "file":
		storetest.Put(t, b.dir, fileName, text)
	case "jam": // a folder instead of the file
		return os.MkdirAll(b.dir.Path(fileName), 0o700)
	default:
		t.Fatalf("no step %q", verb)
	}
	return nil
}

// card is an embed with something in each of its texts.
func card(dirt string) *post.Embed {
	return &post.Embed{
		Title: "t" + dirt, Description: "d" + dirt, Footer: "f" + dirt, Color: post.Color("c" + dirt),
		Fields:  []post.Field{{Name: "n" + dirt, Value: "v" + dirt, Inline: true}},
		Buttons: []post.Button{{Label: "l" + dirt, Style: "s" + dirt, Action: "a" + dirt}},
	}
}

// shown are the entries, with all that is special about them.
func (b *book) shown(t *testing.T, began time.Time) string {
	var list []string
	for _, e := range b.Entries() {
		line := string(e.Role) + " " + e.Text
		for _, special := range []struct {
			is   bool
			text string
		}{
			{e.At.After(began), fmt.Sprint("after ", e.At.Sub(began))},
			{e.Source != "", "from " + e.Source},
			{e.Critical, "critical"},
			{e.Streaming, "open"},
			{len(e.Tools) > 0, fmt.Sprint(e.Tools)},
			{e.Embed != nil, fmt.Sprintf("%+v", e.Embed)},
			{e.Where != "", fmt.Sprint(e.Where, e.Elsewhere)},
			{e.Label != "", "read " + string(e.Label)},
			{e.Version > 0, fmt.Sprint("version ", e.Version)},
		} {
			if special.is {
				line += ", " + special.text
			}
		}
		if e.At.Location() != here || !e.Is(e.ID) || e.Is("") || e.Elsewhere != nil && !e.Is(e.Elsewhere[0]) {
			t.Errorf("%s: the time of another place, or IDs that do not lead to it: %+v", line, e)
		}
		list = append(list, line)
	}
	if b.More() {
		list = slices.Insert(list, 0, "…")
	}
	return strings.Join(list, " | ")
}

func TestWhatIsSaidBecomesTheConversation(t *testing.T) {
	long := strings.Repeat("x", 201)
	for _, c := range []struct{ what, steps, log, shown string }{
		{
			"what is said is shown in order, cleaned, with its role", "you hello\x1b[31m\n; post an answer; small a notice; ping hello", "4 changes",
			"you hello | bot an answer | notice a notice | ping hello, from Email sweep, critical",
		},
		{
			"a nonce is delivered once, also after a restart", "nonce n1 once; nonce n1 more; restart 9; nonce n1 more", "it is message 1; it is message 1; 1 changes",
			"bot once",
		},
		{
			"an edit keeps place and time, and a removal is final", "post one; post two; pass; edit 1 uno; delete 2; delete 2; edit 2 x",
			"edit a message: it is no longer part of the conversation; 4 changes", "bot uno, CARD, version 1",
		},
		{"an edit keeps where the message is shown", "as 900 hi; edit 1 uno", "2 changes", "bot uno, CARD, Discord[], version 1"},
		{"both are in the file", "post one; post two; edit 1 uno; delete 2; restart 9", "4 changes", "bot uno, CARD"},
		{
			"a message is reworded, unless it was removed", "post one; post two; reword 1 uno\x07; delete 2; reword 2 dos; restart 9", "4 changes", "bot uno",
		},
		{
			"an answer has the time and place of its first word",
			"begin; tool Read(a.md); pass; notice meanwhile; pass; says Here; pass; notice later; says  it is.; end; says late", "7 changes",
			"notice meanwhile, after 1m0s | bot Here it is., after 2m0s, [Read(a.md)], version 4 | notice later, after 3m0s",
		},
		{"an answer without words leaves nothing behind", "begin; empty; end; begin; says x; empty", "empty: true; empty: false; 4 changes", "bot x, open, version 1"},
		{
			"what a broken stream has said is taken back", "begin; says kept. ; says broken tail\x1b[3; rewind 14; says whole tail; end", "6 changes",
			"bot kept. whole tail, version 5",
		},
		{
			"a tool that was denied or interrupted says so",
			"begin; says x; tool Read(a.md); tool Bash(ls); tool Read(b.md); denied Read; interrupted Bash(ls); denied Write; end", "9 changes",
			"bot x, [Read(a.md) Bash(ls) — interrupted Read(b.md) — denied Write — denied], version 8",
		},
		{
			"labels of tools are cut, and marked all the same", "begin; says x \n \n; label mail; tool " + long + "; interrupted " + long + "; denied " + long + "; tool a; denied a; end",
			"9 changes", "bot x, [" + long[:199] + "… — interrupted " + long[:99] + "… — denied a — denied], read mail, version 8",
		},
		{
			"the oldest make room, even for an answer that has no word yet", "restart 3; begin; nonce 1 one; nonce 2 two; nonce 3 three; nonce 4 four; says late; end",
			"6 changes", "… | bot two | bot three | bot four",
		},
		{
			"a restart shows the newest without their tools, and the words of an open answer",
			"you one; you two; begin; says an answer\nof two lines; tool Bash(secret --token x); close; restart 2", "6 changes", "… | you two | bot an answer\nof two lines",
		},
		{"as many as are kept are not too many", "you one; you two; close; restart 2", "2 changes", "you one | you two"},
		{
			"nothing is posted after the end", "post one; close; post late; edit 1 late",
			"the bot has stopped: no active channel; the bot has stopped: no active channel; 1 changes", "bot one",
		},
		{
			"a file of garbage is no reason to stop, and what comes after a torn line is kept",
			"file garbage\n{\"id\":\"\"}\n{\"id\":\"a\",\"role\":\"king\",\"text\":\"x\"}\n" +
				"{\"id\":\"b\",\"role\":\"bot\",\"text\":\"e\\u001b[31mvil\",\"embed\":{\"title\":\"t\\u0007\"}}\n{\"id\":\"c\",\"ro; restart 9; you more; restart 9",
			"1 changes", "bot evil, TITLE | you more",
		},
		{
			"a disk that cannot be written does not silence the bot", "jam; post still heard; close",
			"save the transcript: append to state/transcript.jsonl: is a directory: a directory is where a file should be; move it away; 1 changes", "bot still heard",
		},
		{
			"a message of another surface is known by its ID there", "as 900 hi; as 900 again; nonce 900 more; begin; says answer; elsewhere 901 902; end; restart 9",
			"it is message 1; 5 changes", "bot hi, Discord[] | bot answer, Discord[901 902]",
		},
		{"a message of each role is kept", "you a; post b; small c; ping d; restart 9", "4 changes", "you a | bot b | notice c | ping d, from Email sweep, critical"},
		{
			"a message of another surface leads to its ID there, if it has one", "from 7 hello\x07; from  hi; restart 9", "2 changes",
			"you hello, Discord[7], read mail | you hi, Discord[], read mail",
		},
		{"an ID that comes after the end is kept, too", "begin; says answer; end; elsewhere 901 902; restart 9", "4 changes", "bot answer, Discord[901 902]"},
		{
			"a file is shown by its clean name below the text", "files /home/sam/week\x1b[31m.pdf Here it is; files /a/one.txt,/b/two\u202e\n.txt", "2 changes",
			"bot Here it is\nFile: week.pdf | bot File: one.txt\nFile: two .txt",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, began := &book{dir: storetest.Dir(t)}, time.Now()
				b.restart(9)
				for step := range strings.SplitSeq(c.steps, "; ") {
					if err := b.do(t, step); err != nil {
						b.log = append(b.log, err.Error())
					}
				}
				b.log = append(b.log, fmt.Sprint(b.changes, " changes"))
				if got := strings.Join(b.log, "; "); got != c.log {
					t.Errorf("it says %s\nnot     %s", got, c.log)
				}
				want := strings.ReplaceAll(strings.ReplaceAll(c.shown, "CARD", fmt.Sprintf("%+v", card(""))), "TITLE", fmt.Sprintf("%+v", &post.Embed{Title: "t"}))
				if got := b.shown(t, began); got != want {
					t.Errorf("it shows %s\nnot      %s", got, want)
				}
				data, _ := b.dir.Read(fileName) // a folder is none
				if strings.Contains(string(data), "secret") || len(b.nonces) > len(b.Entries()) || len(b.live) > 1 {
					t.Errorf("the file has the arguments of a tool, or %d nonces and %d answers are kept", len(b.nonces), len(b.live))
				}
			})
		})
	}
}

func TestACallerWhoIsGonePostsNothing(t *testing.T) {
	b := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Post(ctx, post.Post{Text: "x"})
	for _, err := range []error{err, b.Edit(ctx, "x", post.Post{}), b.Delete(ctx, "x"), b.Typing(ctx)} {
		if !errors.Is(err, context.Canceled) || len(b.Entries()) != 0 {
			t.Errorf("%v, %d entries", err, len(b.Entries()))
		}
	}
}

func TestConcurrentPostsOfOneNonceAreOneMessage(t *testing.T) {
	b := New(Options{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := b.Post(t.Context(), post.Post{Nonce: "same", Text: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(b.Entries()); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestASnapshotNeverChangesAndIsSharedWhileNothingHappens(t *testing.T) {
	b := New(Options{})
	s := b.Begin(Bot)
	s.Append("one")
	s.Tool("Read(a.md)")
	before := b.Entries()
	if same := b.Entries(); &same[0] != &before[0] {
		t.Error("two snapshots without a change between them")
	}
	s.Append(" two")
	s.Tool("Read(b.md)")
	after := b.Entries()
	if before[0].Text != "one" || len(before[0].Tools) != 1 || !before[0].Streaming {
		t.Errorf("the old snapshot changed: %+v", before[0])
	}
	if after[0].Text != "one two" || len(after[0].Tools) != 2 || after[0].Version <= before[0].Version || after[0].ID != before[0].ID {
		t.Errorf("the new one: %+v", after[0])
	}
	id := b.Add(User, "mine")
	_ = b.Entries()
	b.Reword(id, "reworded")
	if list := b.Entries(); list[len(list)-1].Text != "reworded" {
		t.Errorf("after a change the snapshot is still %+v", list)
	}
	s.End()
	s.Append("late")
	if e := b.Entries()[0]; e.Streaming || e.Text != "one two" {
		t.Errorf("after the end: %+v", e)
	}
}

func TestPropertyAStreamedTextIsTheCleanedWhole(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"word ", "é", "😀", "\n", "\x1b[31m", "\x1b]0;t\x07", "\x1b", "\xff", "\t", "\u202e"}), 1, 20).Draw(rt, "text")
		whole := strings.Join(text, "")
		b := New(Options{})
		s := b.Begin(Bot)
		s.Append("!") // so that the entry is kept
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			s.Append(rest[:n])
			rest = rest[n:]
		}
		s.End()
		want := strings.TrimRight(clean.Text("!"+whole), "\n ")
		if got := b.Entries()[0].Text; got != want {
			rt.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	b := New(Options{})
	s := b.Begin(Bot)
	for range 20 {
		s.Append(strings.Repeat("é", 4000))
	}
	s.End()
	fits := b.Begin(Bot)
	fits.Append(strings.Repeat("x", maxText))
	if got := fits.Text(); got != strings.Repeat("x", maxText) {
		t.Errorf("so far it is %d bytes", len(got))
	}
	fits.End()
	for _, posted := range []string{strings.Repeat("é", maxText), strings.Repeat("x", maxText+1), strings.Repeat("x", maxText)} {
		b.Add(User, posted)
	}
	for i, cut := range []bool{true, false, true, true, false} {
		text := b.Entries()[i].Text
		if exact := []int{1: maxText, 3: maxText, 4: maxText}[i]; exact > 0 && len(text) != exact || len(text) > maxText+2 || len(text) < maxText-3 || strings.HasSuffix(text, "…") != cut || !utf8.ValidString(text) {
			t.Errorf("text %d has %d bytes, ends %q", i, len(text), text[len(text)-6:])
		}
	}
}

func TestTheFileIsCutDownAtOneMebibyte(t *testing.T) {
	dir := storetest.Dir(t)
	b := New(Options{Dir: dir})
	for i := range 40 {
		b.Add(User, fmt.Sprint(i, " ", strings.Repeat("x", 50_000)))
	}
	info, err := os.Stat(dir.Path(fileName))
	if err != nil || info.Size() > rotateAt+1 || info.Mode().Perm() != 0o600 {
		t.Fatalf("%d bytes, %v, %v", info.Size(), info.Mode(), err)
	}
	next := New(Options{Dir: dir}).Entries()
	if len(next) < 5 || !strings.HasPrefix(next[len(next)-1].Text, "39 ") {
		t.Errorf("%d entries are left", len(next))
	}
}

func TestTheNewestFiveHundredAreShownUnlessAnotherLimitIsSet(t *testing.T) {
	b := New(Options{})
	for i := range 501 {
		if b.Add(User, fmt.Sprint(i)); b.More() != (i == 500) {
			t.Errorf("after %d there are more: %v", i, b.More())
		}
	}
	if list := b.Entries(); len(list) != 500 || list[0].Text != "1" {
		t.Errorf("%d are shown, first %s", len(list), list[0].Text)
	}
}

func TestWritersAndReadersDoNotMeet(t *testing.T) {
	b := New(Options{Limit: 20})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				s := b.Begin(Bot)
				s.Append(fmt.Sprint(i, j))
				b.Add(User, "x")
				s.End()
			}
		})
		wg.Go(func() {
			for range 200 {
				for _, e := range b.Entries() {
					_ = e.Text + strings.Join(e.Tools, "")
				}
			}
		})
	}
	wg.Wait()
	if len(b.Entries()) != 20 {
		t.Errorf("%d entries", len(b.Entries()))
	}
}
