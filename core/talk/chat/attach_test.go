package chat

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

// attachSome attaches bytes that are not an image under a name.
func attachSome(s *stage, name string) error {
	_, err := s.inbox.attach(name, []byte("some words of "+name))
	return err
}

func TestAFileInThePlaceOfDownloadsIsAnErrorAndNotTheEnd(t *testing.T) {
	s := newStage(t)
	testkit.Must(t, s.dir.Write("downloads", []byte("I am a file")))
	if err := attachSome(s, "notes.txt"); err == nil || !strings.HasPrefix(err.Error(), "attach notes.txt: ") || !strings.Contains(err.Error(), "downloads") {
		t.Errorf("attach says %v", err)
	}
	if a := s.Attached(); len(a) != 0 {
		t.Errorf("attached: %q", a)
	}
}

func TestNothingThatExistsIsWrittenOver(t *testing.T) {
	s := newStage(t)
	elsewhere := filepath.Join(t.TempDir(), "secret")
	testkit.Must(t, os.MkdirAll(filepath.Join(s.dir.Root(), "downloads"), 0o700))
	// A dangling link also counts as a used name.
	testkit.Must(t, os.Symlink(elsewhere, filepath.Join(s.dir.Root(), "downloads", "notes.txt")))
	testkit.Must(t, s.dir.Write("downloads/notes-2.txt", []byte("older")))
	testkit.Must(t, attachSome(s, "notes.txt"))
	_, files := s.inbox.attachments.take()
	if !slices.Equal(files, []string{"downloads/notes-3.txt"}) {
		t.Errorf("saved as %q", files)
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, os.ErrNotExist) {
		t.Error("a link was followed")
	}
	if old, err := os.ReadFile(filepath.Join(s.dir.Root(), "downloads/notes-2.txt")); err != nil || string(old) != "older" {
		t.Errorf("%q, %v", old, err)
	}
}

func TestManyFilesOfOneNameGetANameEachAndTenMayWait(t *testing.T) {
	s := newStage(t)
	for n := range 40 {
		rel, err := s.inbox.download("same.txt", []byte("x"))
		want := `-[0-9a-f]{16}`
		if n < numberedNames {
			want = map[bool]string{false: fmt.Sprint("-", n+1)}[n == 0]
		}
		if testkit.Must(t, err); !regexp.MustCompile(`^downloads/same` + want + `\.txt$`).MatchString(rel) {
			t.Fatalf("number %d is %s", n, rel)
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.dir.Root(), "downloads"))
	if err != nil || len(entries) != 40 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	taken := 0
	for range 3 * maxAttachments {
		wg.Go(func() {
			err := attachSome(s, "many.txt")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				taken++
			}
		})
	}
	wg.Wait()
	if n := len(s.Attached()); n != maxAttachments || taken != n {
		t.Errorf("%d wait, %d were taken, want %d", n, taken, maxAttachments)
	}
	if err := attachSome(s, "one more.txt"); err == nil || err.Error() != "10 files are already attached: send them with a message first" {
		t.Errorf("one more: %v", err)
	}
}

func TestWhateverAFileIsCalledItStaysInDownloadsAndInOneLineOfThePrompt(t *testing.T) {
	s := newStage(t)
	testkit.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\\[\]a漢\n -]{0,300}`)).Draw(rt, "name")
		rel, err := s.inbox.download(name, []byte("x"))
		if err != nil {
			rt.Fatalf("%q: %v", name, err)
		}
		base, ok := strings.CutPrefix(rel, "downloads/")
		if !ok || filepath.Base(base) != base || base[0] == '.' || len(base) > 255 || clean.Line(rel) != rel {
			rt.Fatalf("%q was saved as %q", name, rel)
		}
		if strings.ContainsFunc(rel, func(r rune) bool { return !unicode.IsPrint(r) || r == '[' || r == ']' }) || !s.has(rel) {
			rt.Fatalf("%q was saved as %q", name, rel)
		}
	})
}

func TestOnlyAnOrdinaryFileOfFittingSizeIsAttached(t *testing.T) {
	s := newStage(t)
	large := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(large)
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(f.Truncate(maxAttachment+1), f.Close()))
	folder := t.TempDir()
	for path, why := range map[string]string{
		large: large + ": " + textTooLarge, "/dev/zero": "/dev/zero: " + textNotRegular, folder: folder + ": " + textNotRegular,
		folder + "/gone\nline": folder + "/gone line: no such file or directory",
	} {
		if _, err := s.Attach(path); err == nil || err.Error() != "attach "+why {
			t.Errorf("%q gives %v", path, err)
		}
	}
	if _, err := s.inbox.attach("x", make([]byte, maxAttachment+1)); err == nil || err.Error() != "attach x: "+textTooLarge {
		t.Errorf("bytes that are too large: %v", err)
	}
}

func TestTheLargestFileIsAttachedAndAPictureThatCannotBeShownIsSaved(t *testing.T) {
	s := newStage(t)
	path := filepath.Join(t.TempDir(), "largest.bin")
	f, err := os.Create(path)
	testkit.Must(t, err)
	testkit.Must(t, errors.Join(f.Truncate(maxAttachment), f.Close()))
	if answer, err := s.Attach(path); err != nil || answer != "attached largest.bin to your next message" {
		t.Errorf("%q, %v", answer, err)
	}
	pixel := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")
	if answer, err := s.inbox.attach("shown.bin", pixel); err != nil || answer != "attached shown.bin to your next message" {
		t.Errorf("%q, %v", answer, err)
	}
	const torn = "attached torn.png to your next message, but the model is not shown it: it is an incomplete or damaged image"
	if answer, err := s.inbox.attach("torn.png", pixel[:20]); err != nil || answer != torn {
		t.Errorf("%q, %v", answer, err)
	}
	equal(t, "attached", s.Attached(), []string{"largest.bin", "shown.bin", "torn.png"})
	images, files := s.inbox.attachments.take()
	if len(images) != 1 || images[0].MediaType != "image/png" || len(files) != 2 || len(s.Attached()) != 0 {
		t.Errorf("%d images, files %q, then %q", len(images), files, s.Attached())
	}
}

func TestAPictureIsKnownByItsContentOrItsName(t *testing.T) {
	for name, want := range map[string]bool{
		"a.jpg": true, "a.jpeg": true, "a.PNG": true, "a.gif": true, "a.webp": true, "a.heic": true, "a.heif": true, "a.txt": false, "heif": false,
	} {
		if isPicture(name, []byte("words")) != want || !isPicture(name, []byte("GIF89a")) {
			t.Errorf("%s counts as a picture: %v", name, !want)
		}
	}
}

func TestAPathMayStartAtHome(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	s := newStage(t)
	testkit.Must(t, os.WriteFile(filepath.Join(os.Getenv("HOME"), "notes.txt"), []byte("x"), 0o600))
	if _, err := s.Attach("~/notes.txt"); err != nil {
		t.Error(err)
	}
}
