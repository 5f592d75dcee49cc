package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

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
