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

func TestALaterConversationStandsAlone(t *testing.T) {
	h := begun(t, t.TempDir(), "one")
	testkit.Must(t, h.Add(text("user", "before")))
	testkit.Must(t, h.Begin([]byte(`[{"name":"a"}]`), []byte(`[{"type":"text","text":"s"}]`), Facts{}))
	testkit.Must(t, h.Add(text("user", "after")))
	if got := bodyOf(t, h); got != head+string(text("user", "after"))+"]" {
		t.Errorf("it is %s", got)
	}
}

func TestLinesThatAreNobodysAreLeftAlone(t *testing.T) {
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
