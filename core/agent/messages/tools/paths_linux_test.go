package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestLinksLeadOnlyWhereTheirStoriesSay(t *testing.T) { stories(t, "links") }

// Files found by a walk or by a judged path are opened without following links, even if they were
// replaced since.
func TestALinkInThePlaceOfAFileIsNotFollowed(t *testing.T) {
	g := newGround(t, map[string]string{".env": "marigold", "notes/b.md": "plum"})
	g.link("../.env", "notes/a.md")
	g.link("notes", "linked")
	folder, err := openFolder(filepath.Join(g.dir, "notes"), false)
	testkit.Must(t, err)
	defer folder.Close()
	if data, err := readIn(folder, "a.md", maxFile); err == nil {
		t.Errorf("it reads %q", data)
	}
	if data, err := readIn(folder, "b.md", maxFile); err != nil || string(data) != "plum" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := openFolder(filepath.Join(g.dir, "linked"), false); err == nil {
		t.Error("a folder is opened through a link")
	}
}

// A command of another session creates links while a file is opened. Whatever it does, no file is
// read that was not judged, or is not visible.
func TestARaceOfLinksShowsNoSecret(t *testing.T) {
	g := newGround(t, map[string]string{"notes/a.md": "plum", "notes/real/a.md": "plum", "secret/a.md": "marigold", ".env": "marigold"})
	g.hiddenFromSee = func(path string, _ bool) bool {
		return path == g.dir+"/.env" || strings.HasPrefix(path, g.dir+"/secret")
	}
	var done atomic.Bool
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for i := 0; !done.Load(); i++ {
			for name, targets := range map[string][]string{"notes/x.md": {"a.md", "../.env"}, "notes/dir": {"real", "../secret"}} {
				next := filepath.Join(g.dir, name+".next")
				_ = os.Symlink(targets[i%2], next)
				_ = os.Rename(next, filepath.Join(g.dir, name))
			}
			// A folder replaces a link, and the other way round.
			_ = os.Rename(filepath.Join(g.dir, "notes/real"), filepath.Join(g.dir, "notes/moved"))
			_ = os.Symlink("../secret", filepath.Join(g.dir, "notes/real"))
			_ = os.Remove(filepath.Join(g.dir, "notes/real"))
			_ = os.Rename(filepath.Join(g.dir, "notes/moved"), filepath.Join(g.dir, "notes/real"))
		}
	}()
	read := 0
	for range 150 {
		for _, r := range []Result{
			g.call("Read", with{"file_path": "notes/x.md"}), g.call("Read", with{"file_path": "notes/dir/a.md"}), g.call("Read", with{"file_path": "notes/real/a.md"}),
			g.call("Grep", with{"pattern": ".", "path": "notes", "output_mode": "content"}), g.call("Write", with{"file_path": "notes/real/b.md", "content": " "}),
		} {
			if strings.Contains(r.Text, "marigold") {
				t.Fatalf("it shows %q", r.Text)
			}
			if !r.IsError {
				read++
			}
		}
	}
	done.Store(true)
	<-swapped
	if read == 0 {
		t.Error("nothing was ever read")
	}
	if entries, err := os.ReadDir(filepath.Join(g.dir, "secret")); err != nil || len(entries) != 1 {
		t.Errorf("secret/ holds %v, %v", entries, err)
	}
}

// However a path is spelled, either the file that the system means is opened, or its real name is
// judged first.
func TestPropertyNoSpellingEscapes(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": "a", "notes/a.md": "notes/a", "notes/sub/a.md": "notes/sub/a"})
	testkit.Must(t, os.WriteFile(filepath.Join(g.outside, "a.md"), []byte("outside"), 0o600))
	g.link("notes", "in")
	g.link("../outside", "out")
	g.link("../..", "notes/up")
	g.link("sub/..", "notes/here")
	g.link(g.dir, "whole")
	part := rapid.SampledFrom([]string{"notes", "sub", "..", ".", "", "in", "out", "up", "here", "whole", "outside", "data", "a.md", "none"})
	testkit.Check(t, func(rt *rapid.T) {
		path := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(rt, "parts"), "/") + "/a.md"
		if rapid.Bool().Draw(rt, "absolute") {
			path = g.dir + "/" + path
		}
		g.asked = nil
		r := g.call("Read", with{"file_path": path})
		full := path
		if !filepath.IsAbs(path) {
			full = g.dir + "/" + path
		}
		// What the system opens, and its real name.
		data, err := os.ReadFile(full)
		switch {
		case err == nil && r.IsError:
			rt.Fatalf("%s: the tool says %q", path, r.Text)
		case err != nil && !r.IsError && len(g.asked) == 0:
			// A missing folder followed by ".." is skipped.
			if data, err = os.ReadFile(filepath.Clean(full)); err != nil || !strings.Contains(r.Text, string(data)) {
				rt.Fatalf("%s: %q, and tidied %q, %v", path, r.Text, data, err)
			}
			return
		case err != nil:
			return
		}
		truly, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", opened(rt, full)))
		if err != nil {
			rt.Fatal(err)
		}
		if !strings.Contains(r.Text, string(data)) {
			rt.Fatalf("%s: %q, want %q", path, r.Text, data)
		}
		plain := filepath.Clean(full)
		want := "Read " + truly
		if truly == plain {
			want = ""
		}
		if asked := g.judged(); asked != want {
			rt.Fatalf("%s is %s, judged again: %v", path, truly, asked)
		}
	})
}

// opened returns a descriptor of a file, which the end of the test closes.
func opened(t *rapid.T, path string) uintptr {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f.Fd()
}
