package core

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"ollimbot/core/agent/script"
	"ollimbot/core/clean"
)

// attachSome attaches bytes that are no image under a name.
func attachSome(b *Bot, name string) error {
	_, err := b.attach(name, []byte("some words of "+name))
	return err
}

func TestNamesThatAreTakenAreLongOrStrangeNeverFreezeTheBot(t *testing.T) {
	h := newHome(t)
	b := h.bot(script.New(script.Options{}))
	for _, name := range []string{
		strings.Repeat("x", 254), strings.Repeat("漢", 96) + ".txt", "a\nline.md", "../routines/evil.md", ".env", strings.Repeat("é", 400),
	} {
		for range 2 {
			if err := attachSome(b, name); err != nil {
				t.Errorf("%.40q: %v", name, err)
			}
			b.attached.take()
		}
	}
	entries, err := os.ReadDir(filepath.Join(h.root, "downloads"))
	if err != nil || len(entries) != 12 {
		t.Errorf("%d files in downloads/, want 12 (%v)", len(entries), err)
	}
	if h.has("routines/evil.md") {
		t.Error("a name has led out of downloads/")
	}
}

func TestAFileInThePlaceOfDownloadsIsAnErrorAndNotTheEnd(t *testing.T) {
	h := newHome(t)
	h.write("downloads", "I am a file")
	b := h.bot(script.New(script.Options{}))
	if err := attachSome(b, "notes.txt"); err == nil || !strings.Contains(err.Error(), "downloads") {
		t.Errorf("attach says %v", err)
	}
	if s := b.Snapshot(); len(s.Attached) != 0 {
		t.Errorf("attached: %q", s.Attached)
	}
}

func TestNothingThatExistsIsWrittenOver(t *testing.T) {
	h := newHome(t)
	b := h.bot(script.New(script.Options{}))
	elsewhere := filepath.Join(t.TempDir(), "secret")
	if err := os.MkdirAll(filepath.Join(h.root, "downloads"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A link that leads nowhere yet is a name that is taken, too.
	if err := os.Symlink(elsewhere, filepath.Join(h.root, "downloads", "notes.txt")); err != nil {
		t.Fatal(err)
	}
	h.write("downloads/notes-2.txt", "older")
	if err := attachSome(b, "notes.txt"); err != nil {
		t.Fatal(err)
	}
	_, files := b.attached.take()
	if !slices.Equal(files, []string{"downloads/notes-3.txt"}) {
		t.Errorf("saved as %q", files)
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, os.ErrNotExist) {
		t.Error("a link was followed")
	}
	if old, err := os.ReadFile(filepath.Join(h.root, "downloads/notes-2.txt")); err != nil || string(old) != "older" {
		t.Errorf("%q, %v", old, err)
	}
}

func TestManyFilesOfOneNameGetANameEachAndTenMayWait(t *testing.T) {
	h := newHome(t)
	b := h.bot(script.New(script.Options{}))
	for range 40 {
		if _, err := b.download("same.txt", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(h.root, "downloads"))
	if err != nil || len(entries) != 40 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	taken := 0
	for range 3 * maxAttachments {
		wg.Go(func() {
			err := attachSome(b, "many.txt")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				taken++
			}
		})
	}
	wg.Wait()
	if n := len(b.Snapshot().Attached); n != maxAttachments || taken != n {
		t.Errorf("%d wait, %d were taken, want %d", n, taken, maxAttachments)
	}
}

func TestWhateverAFileIsCalledItStaysInDownloadsAndInOneLineOfThePrompt(t *testing.T) {
	h := newHome(t)
	b := h.bot(script.New(script.Options{}))
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\\[\]a漢\n -]{0,300}`)).Draw(rt, "name")
		rel, err := b.download(name, []byte("x"))
		if err != nil {
			rt.Fatalf("%q: %v", name, err)
		}
		base, ok := strings.CutPrefix(rel, "downloads/")
		if !ok || filepath.Base(base) != base || base[0] == '.' || len(base) > 255 || clean.Line(rel) != rel {
			rt.Fatalf("%q was saved as %q", name, rel)
		}
		if strings.ContainsFunc(rel, func(r rune) bool { return !unicode.IsPrint(r) || r == '[' || r == ']' }) || !h.has(rel) {
			rt.Fatalf("%q was saved as %q", name, rel)
		}
	})
}

func TestOnlyAnOrdinaryFileOfFittingSizeIsAttached(t *testing.T) {
	h := newHome(t)
	b := h.bot(script.New(script.Options{}))
	large := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(large)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(maxAttachment+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{large, "/dev/zero", t.TempDir(), filepath.Join(t.TempDir(), "gone\nline")} {
		if _, err := b.slashAttach(t.Context(), []string{path}); err == nil || strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%q gives %v", path, err)
		}
	}
	if _, err := b.attach("x", make([]byte, maxAttachment+1)); err == nil {
		t.Error("a file that is too large was saved")
	}
}
