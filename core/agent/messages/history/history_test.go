package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
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
		t.Errorf("opened anew it is %s", got)
	}
}

func TestALaterConversationIsIndependent(t *testing.T) {
	h := begun(t, t.TempDir(), "one")
	testkit.Must(t, h.Add(text("user", "before")))
	testkit.Must(t, h.Begin([]byte(`[{"name":"a"}]`), []byte(`[{"type":"text","text":"s"}]`), Facts{}))
	testkit.Must(t, h.Add(text("user", "after")))
	if got := bodyOf(t, h); got != head+string(text("user", "after"))+"]" {
		t.Errorf("it is %s", got)
	}
}

func TestLinesOfUnknownOriginAreLeftAlone(t *testing.T) {
	folder := t.TempDir()
	h := begun(t, folder, "one")
	testkit.Must(t, h.Add(text("user", "hello")))
	testkit.Must(t, h.Close())
	path := filepath.Join(folder, "one"+Ext)
	data, err := os.ReadFile(path)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(path, append(data, "garbage\n\x00\x00\n{\"of\":\"tomorrow\"}\n\n"...), 0o600))
	again, err := Open(folder, "one")
	testkit.Must(t, err)
	defer again.Close()
	testkit.Must(t, again.Add(text("assistant", "yes")))
	if got := bodyOf(t, again); got != head+string(text("user", "hello"))+","+string(text("assistant", "yes"))+"]" {
		t.Errorf("it is %s", got)
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
	child, err := Fork(folder, "parent", "child")
	testkit.Must(t, err)
	testkit.Must(t, child.Add(text("user", "in the fork")))
	testkit.Must(t, child.Close())
	long := time.Now().Add(-40 * 24 * time.Hour)
	for _, id := range []string{"parent", "alone"} {
		testkit.Must(t, os.Chtimes(filepath.Join(folder, id+Ext), long, long))
	}
	testkit.Must(t, Tidy(folder, time.Now().Add(-30*24*time.Hour)))
	for id, want := range map[string]bool{"parent": true, "alone": false, "child": true} {
		if _, err := os.Stat(filepath.Join(folder, id+Ext)); (err == nil) != want {
			t.Errorf("%s is there: %v", id, err == nil)
		}
	}
	testkit.Must(t, Tidy(filepath.Join(folder, "none"), time.Now()))
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
	last, err := Open(folder, fmt.Sprint("s", longChain+3))
	testkit.Must(t, err)
	defer last.Close()
	if got := bodyOf(t, last); got != want+"]" || len(last.sources) > longChain {
		t.Errorf("opened again it has %d files and\n%s", len(last.sources), got)
	}
}
