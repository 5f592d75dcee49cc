package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func text(role, words string) []byte {
	return fmt.Appendf(nil, `{"role":%q,"content":[{"type":"text","text":%q}]}`, role, words)
}

// begun returns a session with a conversation.
func begun(t *testing.T, folder, id string) *History {
	t.Helper()
	h, err := New(folder, id)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = h.Close() })
	testkit.Must(t, h.Begin([]byte(`[{"name":"a"}]`), []byte(`[{"type":"text","text":"s"}]`), Facts{Prompt: "p"}))
	return h
}

func bodyOf(t *testing.T, h *History, inserts ...Insert) string {
	t.Helper()
	r, size := h.Body(inserts...)
	b, err := io.ReadAll(r)
	testkit.Must(t, err)
	if int64(len(b)) != size {
		t.Errorf("it has %d bytes, not %d", len(b), size)
	}
	return string(b)
}

const head = `"tools":[{"name":"a"}],"system":[{"type":"text","text":"s"}],"messages":[`

func TestABodyIsWhatWasAddedInItsOrder(t *testing.T) {
	folder := t.TempDir()
	for _, place := range []string{"", folder} {
		h := begun(t, place, "one")
		testkit.Must(t, h.Add(text("user", "hello\nyou"), text("assistant", "yes")))
		testkit.Must(t, h.Note(Facts{Tokens: 7, Prompt: "p"}))
		testkit.Must(t, h.Add(text("user", "more")))
		want := head + string(text("user", "hello\nyou")) + "," + string(text("assistant", "yes")) + "," + string(text("user", "more")) + "]"
		if got := bodyOf(t, h); got != want {
			t.Errorf("in %q:\n%s\nwant\n%s", place, got, want)
		}
		marked := bodyOf(t, h, Insert{h.Marks().Users[0], `,"mark":1`}, Insert{h.Marks().Users[1], `,"mark":2`})
		if !strings.Contains(marked, `"more","mark":1}]}]`) || !strings.Contains(marked, `you","mark":2}]}`) {
			t.Errorf("marked it is %s", marked)
		}
		if f := h.Facts(); f.Tokens != 7 {
			t.Errorf("the facts are %+v", f)
		}
	}
	info, err := os.Stat(filepath.Join(folder, "one"+Ext))
	testkit.Must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", info.Mode())
	}
}

func TestAFileHasALineForEachThingAndATimeForEachSecond(t *testing.T) {
	folder := t.TempDir()
	read := func(id string) string {
		data, err := os.ReadFile(filepath.Join(folder, id+Ext))
		testkit.Must(t, err)
		return string(data)
	}
	synctest.Test(t, func(t *testing.T) { // it begins at midnight of the year 2000
		h, err := New(folder, "one")
		testkit.Must(t, err)
		testkit.Must(t, h.Begin([]byte(`[{"name":"a"}]`), []byte(`[{"type":"text","text":"s"}]`), Facts{Prompt: "p", Betas: "b"}))
		for _, words := range []string{"1", "2", "3"} {
			testkit.Must(t, h.Add(text("user", words)))
			time.Sleep(600 * time.Millisecond)
		}
		testkit.Must(t, h.Note(Facts{Tokens: 7}))
		f, err := Fork(folder, "one", "two")
		testkit.Must(t, err)
		size := len(read("one"))
		testkit.Must(t, f.Add(text("user", "in the fork")))
		testkit.Must(t, errors.Join(h.Cut(h.End(), true), h.Cut(0, true), h.Add(text("user", "4")), h.Cut(h.End()-1, false)))
		want := `{"session":"one","at":"2000-01-01T00:00:00Z"}
{"tools":[{"name":"a"}]}
{"system":[{"type":"text","text":"s"}]}
{"facts":{"prompt":"p","betas":"b"}}
{"at":"2000-01-01T00:00:00Z"}
` + string(text("user", "1")) + "\n" + string(text("user", "2")) + `
{"at":"2000-01-01T00:00:01.2Z"}
` + string(text("user", "3")) + `
{"facts":{"tokens":7}}
{"cut":1,"lost":true}
` + string(text("user", "4")) + `
{"cut":474}
`
		if got := read("one"); got != want {
			t.Errorf("the file is\n%s\nwant\n%s", got, want)
		}
		want = fmt.Sprintf(`{"session":"two","parent":"one","offset":%d,"at":"2000-01-01T00:00:01.8Z"}`, size) + "\n" +
			`{"at":"2000-01-01T00:00:01.8Z"}` + "\n" + string(text("user", "in the fork")) + "\n"
		if got := read("two"); got != want {
			t.Errorf("the fork's file is\n%s\nwant\n%s", got, want)
		}
		again, err := Open(folder, "two") // without what its parent has lost and added since
		testkit.Must(t, err)
		if got := bodyOf(t, again); got != head+strings.Join([]string{string(text("user", "1")), string(text("user", "2")), string(text("user", "3")), string(text("user", "in the fork"))}, ",")+"]" {
			t.Errorf("opened again the fork has %s", got)
		}
		m := again.Marks()
		if marked := bodyOf(t, again, Insert{m.Forked, `,"forked":1`}); !strings.Contains(marked, `"3","forked":1}`) || len(m.Users) != 2 {
			t.Errorf("its marks are %+v: %s", m, marked)
		}
		testkit.Must(t, errors.Join(h.Close(), f.Close(), again.Close()))
	})
}

func TestMessagesOfEverySizeAreReadAgain(t *testing.T) {
	for _, size := range []int{1, chunk - 200, chunk - 64, chunk, chunk + 1, 3*chunk + 5} {
		folder := t.TempDir()
		h := begun(t, folder, "one")
		want := head
		for i := range 5 {
			m := text([]string{"user", "assistant"}[i%2], strings.Repeat("x", size))
			testkit.Must(t, h.Add(m))
			want += map[bool]string{true: ","}[i > 0] + string(m)
		}
		testkit.Must(t, h.Close())
		again, err := Open(folder, "one")
		testkit.Must(t, err)
		m := again.Marks()
		if got := bodyOf(t, again); got != want+"]" || len(m.Users) != 2 || again.Size() != int64(len(want)-len(head)+1) {
			t.Errorf("of messages of %d bytes %d are read, want %d", size, len(got), len(want))
		}
		if marked := bodyOf(t, again, Insert{m.Users[0], `,"a":1`}, Insert{m.Users[1], `,"b":2`}); strings.Count(marked, `x","a":1}]}]`)+strings.Count(marked, `x","b":2}]},`) != 2 {
			t.Errorf("of messages of %d bytes the wrong ones are marked", size)
		}
		took, err := Took(folder, "one", func(s string) bool { return len(s) == size })
		if !took || err != nil {
			t.Errorf("a message of %d bytes was taken: %v, %v", size, took, err)
		}
		testkit.Must(t, again.Close())
	}
}

func TestEmptyListsAreLeftOut(t *testing.T) {
	h, err := New("", "")
	testkit.Must(t, err)
	testkit.Must(t, h.Begin([]byte("[]"), []byte("[]"), Facts{}))
	testkit.Must(t, h.Add(text("user", "hello")))
	if got := bodyOf(t, h); got != `"messages":[`+string(text("user", "hello"))+"]" {
		t.Errorf("it is %s", got)
	}
}

func TestNothingIsWrittenBeforeTheFirstMessage(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "sessions")
	h := begun(t, folder, "one")
	testkit.Must(t, h.Close())
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
	if err := h.Add(text("user", "late")); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed one takes a message: %v", err)
	}
	// Without the folder's parent the bot has lost its state.
	if err := begun(t, filepath.Join(folder, "lost"), "one").Add(text("user", "hello")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a session in a folder that is gone takes a message: %v", err)
	}
}

// A session whose first message found no room was saved without its tools, its system prompt and its parent.
func TestASessionWhoseFirstMessageFoundNoRoomIsWhole(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	folder := t.TempDir()
	parent := begun(t, folder, "parent")
	testkit.Must(t, parent.Add(text("user", "before")))
	fork, err := Fork(folder, "parent", "fork")
	testkit.Must(t, err)
	for id, h := range map[string]*History{"one": begun(t, folder, "one"), "fork": fork} {
		for _, room := range []uint64{0, 40} {
			if err := storetest.RoomFor(t, room, func() error { return h.Add(text("user", "lost")) }); err == nil {
				t.Errorf("%s has room", id)
			}
		}
		testkit.Must(t, h.Add(text("user", "hello")))
		want := map[string]string{"fork": string(text("user", "before")) + ","}[id] + string(text("user", "hello")) + "]"
		if got := bodyOf(t, h); got != head+want {
			t.Errorf("%s is %s", id, got)
		}
		testkit.Must(t, h.Close())
		again, err := Open(folder, id)
		testkit.Must(t, err)
		if got := bodyOf(t, again); got != head+want {
			t.Errorf("opened again, %s is %s", id, got)
		}
		testkit.Must(t, again.Close())
	}
}

func TestWhatIsCutCountsAsTakenUnlessItIsLost(t *testing.T) {
	folder := t.TempDir()
	h := begun(t, folder, "one")
	testkit.Must(t, h.Add(text("user", "first"), text("assistant", "yes")))
	for words, lost := range map[string]bool{"refused": false, "never taken": true} {
		end := h.End()
		testkit.Must(t, h.Add(text("user", words)))
		testkit.Must(t, h.Cut(end, lost))
		if got := bodyOf(t, h); strings.Contains(got, words) || !strings.Contains(got, "first") {
			t.Errorf("behind the cut it is %s", got)
		}
		took, err := Took(folder, "one", func(s string) bool { return s == words })
		if err != nil || took == lost {
			t.Errorf("%q was taken: %v, %v", words, took, err)
		}
	}
	testkit.Must(t, h.Close())
	again, err := Open(folder, "one")
	testkit.Must(t, err)
	defer again.Close()
	if got := bodyOf(t, again); got != head+string(text("user", "first"))+","+string(text("assistant", "yes"))+"]" {
		t.Errorf("opened again it is %s", got)
	}
}

func TestALaterConversationIsIndependent(t *testing.T) {
	folder := t.TempDir()
	h := begun(t, folder, "one")
	testkit.Must(t, h.Add(text("user", "before")))
	testkit.Must(t, h.Begin([]byte(`[{"name":"a"}]`), []byte(`[{"type":"text","text":"s"}]`), Facts{}))
	testkit.Must(t, h.Add(text("user", "after")))
	if got := bodyOf(t, h); got != head+string(text("user", "after"))+"]" {
		t.Errorf("it is %s", got)
	}
	fork, err := Fork(folder, "one", "two")
	testkit.Must(t, err)
	testkit.Must(t, fork.Begin([]byte(`[{"name":"a"}]`), []byte(`[{"type":"text","text":"s"}]`), Facts{}))
	if got := bodyOf(t, fork); got != head+"]" {
		t.Errorf("started again the fork is %s", got)
	}
	testkit.Must(t, fork.Close())
}

func TestLinesOfUnknownOriginAreLeftAlone(t *testing.T) {
	folder := t.TempDir()
	h := begun(t, folder, "one")
	testkit.Must(t, h.Add(text("user", "hello")))
	testkit.Must(t, h.Close())
	path := filepath.Join(folder, "one"+Ext)
	data, err := os.ReadFile(path)
	testkit.Must(t, err)
	data = append(data, "garbage\n\x00\x00\n{\"of\":\"tomorrow\"}\n\n"...)
	testkit.Must(t, os.WriteFile(path, append(data, `{"role":"user","content":"and torn`...), 0o600))
	for _, last := range []string{"yes", "no"} { // opened again
		again, err := Open(folder, "one")
		testkit.Must(t, err)
		if kept, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(kept, data) || bytes.Contains(kept, []byte("torn")) {
			t.Errorf("the file has become %q, %v", kept, err)
		}
		testkit.Must(t, again.Add(text("assistant", last)))
		if got := bodyOf(t, again); !strings.HasPrefix(got, head+string(text("user", "hello"))+","+string(text("assistant", "yes"))) || !strings.Contains(got, last) {
			t.Errorf("it is %s", got)
		}
		testkit.Must(t, again.Close())
	}
}

func TestAParentThatIsGoneIsAnErrorAndOneThatIsItselfToo(t *testing.T) {
	folder := t.TempDir()
	h := begun(t, folder, "main")
	testkit.Must(t, h.Add(text("user", "hello")))
	fork, err := Fork(folder, "main", "fork")
	testkit.Must(t, err)
	testkit.Must(t, fork.Add(text("user", "in the fork")))
	testkit.Must(t, errors.Join(h.Close(), fork.Close()))
	testkit.Must(t, os.Remove(filepath.Join(folder, "main"+Ext)))
	if _, err := Open(folder, "fork"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it opens with %v", err)
	}
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "loop"+Ext), []byte(`{"session":"loop","parent":"loop","offset":9999}`+"\n"), 0o600))
	if _, err := Open(folder, "loop"); err == nil {
		t.Error("its own parent opens")
	}
}

func TestOldSessionsGoAndParentsOfYoungOnesStay(t *testing.T) {
	folder := t.TempDir()
	for _, id := range []string{"parent", "alone"} {
		h := begun(t, folder, id)
		testkit.Must(t, h.Add(text("user", "hello")))
	}
	for _, family := range [][2]string{{"parent", "child"}, {"child", "grandchild"}, {"alone", "lost"}} {
		f, err := Fork(folder, family[0], family[1])
		testkit.Must(t, err)
		testkit.Must(t, errors.Join(f.Add(text("user", strings.Repeat("in the fork", 10_000))), f.Close()))
	}
	long := time.Now().Add(-40 * 24 * time.Hour).Truncate(time.Second)
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "other.txt"), nil, 0o600))
	testkit.Must(t, os.Mkdir(filepath.Join(folder, "folder"+Ext), 0o700))
	for _, name := range []string{"parent" + Ext, "alone" + Ext, "child" + Ext, "lost" + Ext, "other.txt", "folder" + Ext} {
		testkit.Must(t, os.Chtimes(filepath.Join(folder, name), long, long))
	}
	there := func() (names string) {
		entries, err := os.ReadDir(folder)
		testkit.Must(t, err)
		for _, e := range entries {
			names += e.Name() + " "
		}
		return names
	}
	testkit.Must(t, Tidy(folder, long))
	if got := there(); got != "alone.jsonl child.jsonl folder.jsonl grandchild.jsonl lost.jsonl other.txt parent.jsonl " {
		t.Errorf("before any is too old there are %s", got)
	}
	testkit.Must(t, Tidy(folder, long.Add(time.Second)))
	if got := there(); got != "child.jsonl folder.jsonl grandchild.jsonl other.txt parent.jsonl " {
		t.Errorf("there are %s", got)
	}
	testkit.Must(t, Tidy(filepath.Join(folder, "none"), time.Now()))
	if err := Tidy(filepath.Join(folder, "other.txt"), time.Now()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is none: %v", err)
	}
}

func TestTheRecentPartBeginsWithTheUsersWordsAndHasAboutTheSize(t *testing.T) {
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"4"}]}`
	h := begun(t, t.TempDir(), "one")
	all := []string{string(text("user", "first")), string(text("assistant", "calls")), result, string(text("assistant", "four")), string(text("user", "second")), string(text("assistant", "yes"))}
	for _, m := range all {
		testkit.Must(t, h.Add([]byte(m)))
	}
	total := int64(len(strings.Join(all, "\n")) + 1)
	if h.Size() != total {
		t.Errorf("it has %d bytes, want %d", h.Size(), total)
	}
	size := func(from int) int64 { return int64(len(strings.Join(all[from:], "\n")) + 1) }
	for _, c := range []struct {
		name string
		size int64
		from int // of all
	}{
		{"all of it", total, 0},
		{"more than there is", total * 2, 0},
		{"the message in which it begins stays", size(1), 0},
		{"a byte less leaves the first one out, and what answers it", size(1) - 1, 4},
		{"a result of a tool is no beginning", size(2), 4},
		{"the last words of the user", size(5), 4},
		{"only a part of the answer", size(5) - 1, 6},
	} {
		for _, frozen := range []bool{true, false} {
			short, err := h.Recent(c.size, frozen)
			testkit.Must(t, err)
			want := `"messages":[` + strings.Join(all[c.from:], ",") + "]"
			if frozen && c.from < len(all) {
				want = strings.TrimSuffix(head, `"messages":[`) + want
			}
			if got := bodyOf(t, short); got != want {
				t.Errorf("%s, with the tools %v:\n%s\nwant\n%s", c.name, frozen, got, want)
			}
		}
	}
}

func TestTheNewestMessageIsReadAndEverythingSaved(t *testing.T) {
	for _, place := range []string{"", t.TempDir()} {
		h := begun(t, place, "one")
		if last, err := h.Last(); last != nil || err != nil {
			t.Errorf("before a message: %s, %v", last, err)
		}
		testkit.Must(t, h.Add(text("user", "hello"), text("assistant", "yes")))
		if last, err := h.Last(); string(last) != string(text("assistant", "yes"))+"\n" || err != nil {
			t.Errorf("%s, %v", last, err)
		}
		testkit.Must(t, h.Sync())
		testkit.Must(t, errors.Join(h.Close(), h.Close()))
		if err := h.Sync(); (err == nil) != (place == "") {
			t.Errorf("closed, in %q: %v", place, err)
		}
	}
}

func TestASessionIsNotBegunTwiceAndAForkOfALongChainIsACopy(t *testing.T) {
	folder := t.TempDir()
	h := begun(t, folder, "s0")
	testkit.Must(t, h.Add(text("user", "hello")))
	if _, err := New(folder, "s0"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("begun again: %v", err)
	}
	if _, err := Fork(folder, "s0", "s0"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("its own fork: %v", err)
	}
	if _, err := Fork(folder, "none", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a fork of nothing: %v", err)
	}
	if _, err := Open(folder, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown one: %v", err)
	}
	want := head + string(text("user", "hello"))
	for i := range longChain + 3 {
		f, err := Fork(folder, fmt.Sprint("s", i), fmt.Sprint("s", i+1))
		testkit.Must(t, err)
		testkit.Must(t, f.Add(text("assistant", fmt.Sprint(i))))
		want += "," + string(text("assistant", fmt.Sprint(i)))
		if got := bodyOf(t, f); got != want+"]" {
			t.Fatalf("fork %d has\n%s\nwant\n%s", i, got, want)
		}
		testkit.Must(t, f.Close())
	}
	if _, err := Fork(folder, fmt.Sprint("s", longChain), "s0"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a copy over another session: %v", err)
	}
	last, err := Open(folder, fmt.Sprint("s", longChain+3))
	testkit.Must(t, err)
	defer last.Close()
	if got := bodyOf(t, last); got != want+"]" || len(last.sources) > longChain {
		t.Errorf("opened again it has %d files and\n%s", len(last.sources), got)
	}
}
