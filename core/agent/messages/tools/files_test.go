package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestReadNumbersLines(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": "plum\nfig\n\npear", "crlf.md": "\ufeffplum\r\nfig\r\n", "empty.md": ""})
	if got := g.does("Read", with{"file_path": "a.md"}); got != "     1\tplum\n     2\tfig\n     3\t\n     4\tpear\n" {
		t.Errorf("%q", got)
	}
	if got := g.does("Read", with{"file_path": g.dir + "/./a.md", "offset": 2, "limit": 1}); got != "     2\tfig\n(shown up to line 2 of 4; continue with offset 3)\n" {
		t.Errorf("%q", got)
	}
	if got := g.does("Read", with{"file_path": "crlf.md"}); got != "     1\tplum\n     2\tfig\n" {
		t.Errorf("%q", got)
	}
	if got := g.does("Read", with{"file_path": "empty.md"}); got != "empty.md is empty." {
		t.Errorf("%q", got)
	}
	g.refused("Read", with{"file_path": "a.md", "offset": 9}, "has only 4 lines")
}

func TestReadKeepsToItsLimits(t *testing.T) {
	g := newGround(t, map[string]string{
		"long.md": strings.Repeat("ä", 5000) + "\n", "many.md": strings.Repeat("plum\n", 5000), "wide.md": strings.Repeat(strings.Repeat("x", 1999)+"\n", 500),
		"data.bin": "a\x00b", "latin.md": "f\xfcr",
	})
	if got := g.does("Read", with{"file_path": "long.md"}); len(got) > 2100 || !strings.Contains(got, "this line has 9 kB") {
		t.Errorf("%d bytes: …%s", len(got), got[len(got)-60:])
	}
	if got := g.does("Read", with{"file_path": "many.md"}); !strings.HasSuffix(got, "(shown up to line 2000 of 5000; continue with offset 2001)\n") {
		t.Errorf("…%s", got[len(got)-80:])
	}
	if got := g.does("Read", with{"file_path": "wide.md"}); len(got) > maxText+3000 || !strings.Contains(got, "of 500; continue with offset") {
		t.Errorf("%d bytes", len(got))
	}
	g.refused("Read", with{"file_path": "data.bin"}, "is not text (3 bytes)")
	g.refused("Read", with{"file_path": "latin.md"}, "is not text")
	testkit.Must(t, os.Truncate(filepath.Join(g.dir, "data.bin"), maxFile+1))
	g.refused("Read", with{"file_path": "data.bin"}, "larger than 16")
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	g := newGround(t, map[string]string{"notes/a.md": "x"})
	testkit.Must(t, syscall.Mkfifo(filepath.Join(g.dir, "pipe"), 0o600))
	g.link("loop", "loop")
	g.link("nowhere", "dangling")
	for path, says := range map[string]string{
		"notes": "is a folder", "pipe": "not a regular file", "loop": "loop of links", "dangling": "does not exist", "none.md": "does not exist",
		"notes/a.md/b": "not a folder", "/dev/null": "not a regular file", "a\x00b": "zero byte", strings.Repeat("a", 300): "too long",
	} {
		g.refused("Read", with{"file_path": path}, says)
	}
}

func TestReadShowsPicturesAndDocuments(t *testing.T) {
	g := newGround(t, map[string]string{"a.pdf": "%PDF-1.7\nx", "b.png": "\x89PNG\r\n\x1a\nbroken", "c.webp": "RIFF\x00\x00\x00\x00WEBPVP8 "})
	small, large := drawn(t, 40, 30), drawn(t, 9000, 40)
	g.put("small.png", string(small))
	g.put("large.png", string(large))
	r := g.call("Read", with{"file_path": "a.pdf"})
	if r.IsError || len(r.Documents) != 1 || r.Documents[0].Title != "a.pdf" || r.Documents[0].MediaType != "application/pdf" || string(r.Documents[0].Data) != "%PDF-1.7\nx" {
		t.Errorf("%+v", r)
	}
	r = g.call("Read", with{"file_path": "small.png"})
	if r.IsError || len(r.Images) != 1 || r.Images[0].MediaType != "image/png" || !bytes.Equal(r.Images[0].Data, small) {
		t.Errorf("%s, %d images", r.Text, len(r.Images))
	}
	r = g.call("Read", with{"file_path": "large.png"})
	if r.IsError || len(r.Images) != 1 || r.Images[0].MediaType != "image/jpeg" {
		t.Fatalf("%s, %d images", r.Text, len(r.Images))
	}
	img, _, err := image.Decode(bytes.NewReader(r.Images[0].Data))
	testkit.Must(t, err)
	if img.Bounds().Dx() != 1568 || img.Bounds().Dy() != 6 {
		t.Errorf("it is %v", img.Bounds())
	}
	if left, _, _, _ := img.At(1, 3).RGBA(); left > 0x2000 {
		t.Errorf("its left is %x", left)
	}
	if right, _, _, _ := img.At(1568-2, 3).RGBA(); right < 0xd000 {
		t.Errorf("its right is %x", right)
	}
	if r := g.call("Read", with{"file_path": "c.webp"}); r.IsError || len(r.Images) != 1 {
		t.Errorf("%+v", r)
	}
	g.refused("Read", with{"file_path": "b.png"}, "incomplete or damaged")
	g.put("a.pdf", "%PDF-1.7\n"+strings.Repeat("x", maxPDF))
	g.refused("Read", with{"file_path": "a.pdf"}, "more than 10")
}

// drawn returns a picture, black on its left and white on its right.
func drawn(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := w / 2; x < w; x++ {
			img.Set(x, y, color.White)
		}
	}
	var b bytes.Buffer
	testkit.Must(t, png.Encode(&b, img))
	return b.Bytes()
}

func TestNothingIsOverwrittenUnread(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": "plum\n", "long.md": strings.Repeat("x\n", 3000), "blank.md": " \n"})
	g.refused("Write", with{"file_path": "a.md", "content": "x"}, "Read it first")
	g.refused("Edit", with{"file_path": "a.md", "old_string": "plum", "new_string": "fig"}, "Read it first")
	g.does("Read", with{"file_path": "a.md"})
	g.put("a.md", "pear\n")
	g.refused("Write", with{"file_path": "a.md", "content": "x"}, "has changed since you read it")
	g.refused("Edit", with{"file_path": "a.md", "old_string": "pear", "new_string": "fig"}, "has changed since you read it")
	g.does("Read", with{"file_path": "./notes/../a.md"})
	g.does("Edit", with{"file_path": g.dir + "/a.md", "old_string": "pear", "new_string": "fig"})
	g.does("Edit", with{"file_path": "a.md", "old_string": "fig", "new_string": "date"})
	g.does("Write", with{"file_path": "a.md", "content": "all new\n"})
	g.does("Write", with{"file_path": "a.md", "content": "again\n"})
	if g.has("a.md") != "again\n" {
		t.Errorf("%q", g.has("a.md"))
	}
	g.does("Read", with{"file_path": "long.md"})
	g.refused("Write", with{"file_path": "long.md", "content": "x"}, "You have read only part of long.md")
	g.does("Read", with{"file_path": "long.md", "offset": 2001})
	g.refused("Write", with{"file_path": "long.md", "content": "x"}, "You have read only part of long.md")
	g.does("Write", with{"file_path": "blank.md", "content": "x"})
	g.does("Write", with{"file_path": "deep/er/new.md", "content": "x"})
	if g.has("deep/er/new.md") != "x" {
		t.Error("it is not written")
	}
	g.refused("Write", with{"file_path": "deep", "content": "x"}, "is a folder")
	if left, _ := filepath.Glob(g.dir + "/.*.tmp"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWritingKeepsTheRightsOfAFile(t *testing.T) {
	g := newGround(t, map[string]string{"run.sh": "echo a\n"})
	testkit.Must(t, os.Chmod(filepath.Join(g.dir, "run.sh"), 0o754))
	g.does("Read", with{"file_path": "run.sh"})
	g.does("Edit", with{"file_path": "run.sh", "old_string": "a", "new_string": "b"})
	g.does("Write", with{"file_path": "new.md", "content": "x"})
	for name, want := range map[string]os.FileMode{"run.sh": 0o754, "new.md": 0o600} {
		if info, err := os.Stat(filepath.Join(g.dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has %v, %v", name, info.Mode(), err)
		}
	}
}

func TestEditSaysWhatIsWrong(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": "a\nb\na\n"})
	g.does("Read", with{"file_path": "a.md"})
	for _, e := range []struct {
		old, new, says string
	}{
		{"a", "x", "occurs 2 times"}, {"c", "x", "was not found"}, {"b", "b", "are the same"}, {"", "x", "already has text"}, {"     2\tb", "x", "without line numbers"},
	} {
		g.refused("Edit", with{"file_path": "a.md", "old_string": e.old, "new_string": e.new}, e.says)
	}
	if got := g.does("Edit", with{"file_path": "a.md", "old_string": "a", "new_string": "x", "replace_all": true}); got != "a.md was changed:\n     1\tx\n     2\tb\n     3\tx\n     4\t\n" {
		t.Errorf("%q", got)
	}
	g.does("Edit", with{"file_path": "new.md", "old_string": "", "new_string": "fresh\n"})
	g.does("Edit", with{"file_path": "new.md", "old_string": "fresh", "new_string": "stale"})
	g.refused("Edit", with{"file_path": "none.md", "old_string": "a", "new_string": "b"}, "does not exist")
	if g.has("a.md") != "x\nb\nx\n" || g.has("new.md") != "stale\n" {
		t.Errorf("%q, %q", g.has("a.md"), g.has("new.md"))
	}
}

// The written bytes are those that the policy has judged: the table of core/safety/policy, which
// also applies to the claude command.
func TestEditMakesWhatTheRulesHaveJudged(t *testing.T) {
	data, err := os.ReadFile("../../../safety/policy/testdata/edits.json")
	testkit.Must(t, err)
	var edits []struct {
		Name, File, Before, After string
		Missing, Told, Varies     bool
		With                      map[string]any
	}
	testkit.Must(t, json.Unmarshal(data, &edits))
	letters := func(s string) string {
		var out []byte
		for _, c := range s {
			out = append(out, byte(c))
		}
		return string(out)
	}
	g := newGround(t, nil)
	for _, e := range edits {
		if !e.Missing {
			g.put(e.File, letters(e.Before))
			g.does("Read", with{"file_path": e.File})
		}
		tool := "Edit"
		if e.With["content"] != nil {
			tool = "Write"
		}
		e.With["file_path"] = e.File
		r := g.call(tool, e.With)
		want := letters(e.After)
		if !e.Told && tool == "Edit" {
			want = letters(e.Before) // calls that the policy cannot predict are not made
		}
		if got := g.has(e.File); e.Told && got != want || !e.Told && tool == "Edit" && (got != want || !r.IsError) {
			t.Errorf("%s: %q, want %q (%s)", e.Name, got, want, r.Text)
		}
	}
}

// An edit replaces one place and leaves the rest unchanged, or does nothing.
func TestPropertyAnEditChangesOnlyItsPlace(t *testing.T) {
	g := newGround(t, nil)
	number := 0
	testkit.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\té\u2028")), 0, 30, -1).Draw(rt, "text")
		old := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n")), 1, 3, -1).Draw(rt, "old")
		change := rapid.StringOfN(rapid.RuneFrom([]rune("xy$&")), 1, 5, -1).Draw(rt, "new")
		number++
		name := fmt.Sprintf("%d.md", number)
		g.put(name, text)
		g.does("Read", with{"file_path": name})
		r := g.call("Edit", with{"file_path": name, "old_string": old, "new_string": change})
		before, after, once := strings.Cut(text, old)
		once = once && strings.Count(text, old) == 1 && !strings.Contains(after, old)
		want := text
		if once {
			want = before + change + after
		}
		if got := g.has(name); got != want || r.IsError == once {
			rt.Fatalf("%q with %q for %q is %q, want %q (%s)", text, change, old, got, want, r.Text)
		}
	})
}
