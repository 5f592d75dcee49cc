package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
)

// told returns the conversation as "role text".
func told(b *Chat) []string {
	var list []string
	for _, e := range b.Entries() {
		list = append(list, string(e.Role)+" "+e.Text)
	}
	return list
}

func TestWhatIsSaidIsShownInOrderWithItsRole(t *testing.T) {
	b := New(Options{})
	changes := 0
	b.OnChange(func() { changes++ })
	b.Add(User, "hello\x1b[31m\n")
	for _, p := range []post.Post{
		{Text: "an answer"}, {Text: "a notice", Small: true}, {Text: "a ping", Context: "bg", Source: "Email\x07 sweep", Critical: true},
	} {
		if _, err := b.Post(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"you hello", "bot an answer", "notice a notice", "ping a ping"}
	if diff := cmp.Diff(want, told(b)); diff != "" {
		t.Error(diff)
	}
	last := b.Entries()[3]
	if last.Source != "Email sweep" || !last.Critical || last.At.IsZero() || changes != 4 {
		t.Errorf("the ping is %+v after %d changes", last, changes)
	}
}

func TestANonceIsDeliveredOnceAlsoAfterARestart(t *testing.T) {
	dir := storetest.Dir(t)
	b := New(Options{Dir: dir})
	first, err := b.Post(t.Context(), post.Post{Nonce: "n1", Text: "once"})
	testkit.Must(t, err)
	again, err := b.Post(t.Context(), post.Post{Nonce: "n1", Text: "once more"})
	if err != nil || again != first || len(b.Entries()) != 1 {
		t.Errorf("a second %s beside %s, %v", again, first, err)
	}
	b = New(Options{Dir: dir})
	if again, err = b.Post(t.Context(), post.Post{Nonce: "n1", Text: "once more"}); err != nil || again != first || len(b.Entries()) != 1 {
		t.Errorf("after a restart: %s, %v", again, err)
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

func TestAnEditKeepsPlaceAndTimeAndADeleteIsFinal(t *testing.T) {
	dir := storetest.Dir(t)
	b := New(Options{Dir: dir})
	one, _ := b.Post(t.Context(), post.Post{Text: "one"})
	two, _ := b.Post(t.Context(), post.Post{Text: "two"})
	at := b.Entries()[0].At
	testkit.Must(t, b.Edit(t.Context(), one, post.Post{Text: "uno", Embed: &post.Embed{Title: "t"}}))
	testkit.Must(t, b.Delete(t.Context(), two))
	if err := b.Delete(t.Context(), two); err != nil {
		t.Error("deleting twice:", err)
	}
	if err := b.Edit(t.Context(), two, post.Post{Text: "x"}); err == nil {
		t.Error("an edit of a deleted message succeeded")
	}
	e := b.Entries()
	if len(e) != 1 || e[0].Text != "uno" || !e[0].At.Equal(at) || e[0].Version != 1 || e[0].Embed.Title != "t" {
		t.Errorf("entries: %+v", e)
	}
	if diff := cmp.Diff([]string{"bot uno"}, told(New(Options{Dir: dir}))); diff != "" {
		t.Errorf("after a restart: %s", diff)
	}
}

func TestAnAnswerHasTheTimeAndPlaceOfItsFirstWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{})
		s := b.Begin(Bot)
		s.Tool("Read(a.md)")
		time.Sleep(time.Minute)
		b.Add(Notice, "meanwhile")
		time.Sleep(time.Minute)
		said := time.Now()
		s.Append("Here")
		time.Sleep(time.Minute)
		b.Add(Notice, "later")
		s.Append(" it is.")
		s.End()
		if diff := cmp.Diff([]string{"notice meanwhile", "bot Here it is.", "notice later"}, told(b)); diff != "" {
			t.Error(diff)
		}
		if e := b.Entries()[1]; !e.At.Equal(said) || len(e.Tools) != 1 {
			t.Errorf("the answer is %+v, its first word came at %s", e, said)
		}
	})
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
	s.End()
	s.Append("late")
	if e := b.Entries()[0]; e.Streaming || e.Text != "one two" {
		t.Errorf("after the end: %+v", e)
	}
}

func TestAnEmptyAnswerLeavesNothingBehind(t *testing.T) {
	b := New(Options{})
	s := b.Begin(Bot)
	if !s.Empty() {
		t.Error("a new answer is not empty")
	}
	s.End()
	if len(b.Entries()) != 0 {
		t.Errorf("entries: %+v", b.Entries())
	}
	s = b.Begin(Bot)
	s.Append("x")
	if s.Empty() {
		t.Error("an answer with text is empty")
	}
}

func TestEscapesAndCharactersCutInTwoStillCannotPass(t *testing.T) {
	for name, pieces := range map[string][]string{
		"a colour":         {"red \x1b", "[31mal", "ert\n"},
		"a title":          {"a\x1b]0;own", "ed\x07b\n"},
		"half a character": {"gr\xc3", "\xbcn\n"},
		"three pieces":     {"x\xf0\x9f", "\x98", "\x80y\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{})
			s := b.Begin(Bot)
			for _, p := range pieces {
				s.Append(p)
			}
			s.End()
			want := strings.TrimRight(clean.Text(strings.Join(pieces, "")), "\n ")
			if got := b.Entries()[0].Text; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
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

func TestTheOldestEntriesGoBeyondTheLimit(t *testing.T) {
	b := New(Options{Limit: 5})
	s := b.Begin(Bot)
	for i := range 8 {
		if _, err := b.Post(t.Context(), post.Post{Nonce: fmt.Sprint(i), Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	s.Append("from the past")
	s.End()
	if diff := cmp.Diff([]string{"bot 3", "bot 4", "bot 5", "bot 6", "bot 7"}, told(b)); diff != "" {
		t.Error(diff)
	}
	if !b.More() {
		t.Error("nobody is told that there is more")
	}
	if len(b.nonces) != 5 || len(b.live) != 0 {
		t.Errorf("%d nonces and %d open answers are kept", len(b.nonces), len(b.live))
	}
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	b := New(Options{})
	s := b.Begin(Bot)
	for range 20 {
		s.Append(strings.Repeat("é", 4000))
	}
	s.End()
	text := b.Entries()[0].Text
	if len(text) > maxText+3 || !strings.HasSuffix(text, "…") || !utf8.ValidString(text) {
		t.Errorf("%d bytes, ends %q", len(text), text[len(text)-6:])
	}
}

func TestARestartShowsTheLastEntriesWithoutTools(t *testing.T) {
	const limit = 200
	dir := storetest.Dir(t)
	b := New(Options{Dir: dir})
	for i := range limit + 50 {
		b.Add(User, fmt.Sprint("line ", i))
	}
	s := b.Begin(Bot)
	s.Append("an answer\nof two lines")
	s.Tool("Bash(secret --token x)")
	if err := b.Close(); err != nil { // ends open answers
		t.Fatal(err)
	}
	data, err := dir.Read(fileName)
	if err != nil || strings.Contains(string(data), "secret") {
		t.Errorf("the file holds a tool's arguments, %v", err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	next := New(Options{Dir: dir, Zone: berlin, Limit: limit}).Entries()
	if len(next) != limit || next[0].Text != "line 51" || next[limit-1].Text != "an answer\nof two lines" || next[0].At.Location() != berlin {
		t.Errorf("%d entries, from %q to %q", len(next), next[0].Text, next[len(next)-1].Text)
	}
	if _, err := b.Post(t.Context(), post.Post{Text: "late"}); !errors.Is(err, errClosed) {
		t.Errorf("a post after the end: %v", err)
	}
}

func TestARestartGivesBackAllThatCanBeScrolledToAndSaysIfThereIsMore(t *testing.T) {
	for n, more := range map[int]bool{0: false, 300: false, 301: true} {
		dir := storetest.Dir(t)
		b := New(Options{Dir: dir, Limit: 1000})
		for i := range n {
			b.Add(User, fmt.Sprint("message ", i))
		}
		testkit.Must(t, b.Close())
		b = New(Options{Dir: dir, Limit: 300})
		if got := len(b.Entries()); got != min(n, 300) || b.More() != more {
			t.Errorf("of %d messages %d come back, more: %t", n, got, b.More())
		}
	}
}

func TestAFileOfGarbageIsNoReasonToStop(t *testing.T) {
	dir := storetest.Dir(t)
	lines := "garbage\n{\"id\":\"\"}\n{\"id\":\"a\",\"role\":\"king\",\"text\":\"x\"}\n" +
		"{\"id\":\"b\",\"role\":\"bot\",\"text\":\"e\\u001b[31mvil\",\"embed\":{\"title\":\"t\\u0007\"}}\n{\"id\":\"c\",\"ro"
	storetest.Put(t, dir, fileName, lines)
	b := New(Options{Dir: dir})
	if diff := cmp.Diff([]string{"bot evil"}, told(b)); diff != "" || b.Entries()[0].Embed.Title != "t" {
		t.Error(diff)
	}
	b.Add(User, "after the torn line")
	if diff := cmp.Diff([]string{"bot evil", "you after the torn line"}, told(New(Options{Dir: dir}))); diff != "" {
		t.Error(diff)
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
	next := told(New(Options{Dir: dir}))
	if len(next) < 5 || !strings.HasPrefix(next[len(next)-1], "you 39 ") {
		t.Errorf("%d entries came back", len(next))
	}
}

func TestADiskThatCannotBeWrittenDoesNotSilenceTheBot(t *testing.T) {
	dir := storetest.Dir(t)
	if err := os.MkdirAll(dir.Path(fileName), 0o700); err != nil { // a folder instead of the file
		t.Fatal(err)
	}
	b := New(Options{Dir: dir})
	if _, err := b.Post(t.Context(), post.Post{Text: "still heard"}); err != nil {
		t.Error(err)
	}
	if len(b.Entries()) != 1 {
		t.Error("the entry is missing")
	}
	if err := b.Close(); err == nil {
		t.Error("Close does not say that the file could not be written")
	}
}

func TestACancelledCallDoesNothing(t *testing.T) {
	b := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Post(ctx, post.Post{Text: "x"}); !errors.Is(err, context.Canceled) || len(b.Entries()) != 0 {
		t.Errorf("%v, %d entries", err, len(b.Entries()))
	}
	if err := b.Typing(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
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

func TestWhatABrokenStreamSaidIsTakenBack(t *testing.T) {
	b := New(Options{})
	s := b.Begin(Bot)
	s.Append("kept. ")
	s.Append("broken tail\x1b[3")
	s.Rewind(len("broken tail\x1b[3"))
	s.Append("whole tail")
	s.End()
	if got := b.Entries()[0].Text; got != "kept. whole tail" {
		t.Errorf("%q", got)
	}
}

func TestAMessageOfAnotherSurfaceIsKnownByItsIDThere(t *testing.T) {
	b := New(Options{})
	b.PostAs("900", post.Post{Text: "hi", Nonce: "n"}, "Discord")
	b.PostAs("900", post.Post{Text: "again"}, "Discord")
	s := b.Begin(Bot)
	s.Append("answer")
	s.Elsewhere("Discord", []post.MessageID{"901", "902"})
	s.End()
	list := b.Entries()
	if len(list) != 2 || !list[0].Is("900") || list[0].Text != "hi" || !list[1].Is("902") || list[1].Is("") || list[1].Where != "Discord" {
		t.Errorf("%+v", list)
	}
}
