package frontmatter

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// brief returns a document as one line per field, for tables.
func brief(d Document) string {
	var b strings.Builder
	for _, f := range d.Fields {
		fmt.Fprintf(&b, "%d:%d %s = %s\n", f.Line, f.Column, f.Key, briefValue(f.Value))
	}
	return b.String()
}

func briefValue(v Value) string {
	at := fmt.Sprintf("%d:%d", v.Line, v.Column)
	switch v.Kind {
	case Null:
		return "null " + at
	case Map:
		return "map " + at + " {" + strings.ReplaceAll(brief(Document{Fields: v.Fields}), "\n", "; ") + "}"
	case List:
		items := make([]string, len(v.Items))
		for i, item := range v.Items {
			items[i] = briefValue(item)
		}
		return "list " + at + " (" + strings.Join(items, ", ") + ")"
	}
	if v.Quoted {
		return fmt.Sprintf("quoted %s %q", at, v.Text)
	}
	return fmt.Sprintf("%s %q", at, v.Text)
}

// written reads a text in which ⏎ is a line break and ⟦\\x1b⟧ a character.
func written(text string) []byte {
	text = regexp.MustCompile(`⟦(\\[^⟧]+)⟧`).ReplaceAllStringFunc(text, func(one string) string {
		plain, _ := strconv.Unquote(`"` + strings.Trim(one, "⟦⟧") + `"`)
		return plain
	})
	return []byte(strings.ReplaceAll(text, "⏎", "\n"))
}

// plays plays a file of testdata: behind each step is what comes of it, or below it if that is more than a line.
func plays(t *testing.T, file string, tell func(t *testing.T, step string) string) {
	t.Helper()
	goldentest.Stories(t, file, func(t *testing.T, story string) string {
		var out []string
		for line := range strings.SplitSeq(story, "\n") {
			if step, is := strings.CutPrefix(line, "> "); is {
				step, _, _ = strings.Cut(step, " → ")
				said := strings.TrimSuffix(tell(t, step), "\n")
				between := "\n"
				if !strings.Contains(said, "\n") {
					between = " → "
				}
				out = append(out, strings.TrimSuffix("> "+step+between+said, " → "))
			} else if strings.HasPrefix(line, "# ") {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	})
}

// TestWhatIsRead prints the fields of front matter, of a file of keys, or of JSON, with their places.
func TestWhatIsRead(t *testing.T) {
	plays(t, "read.txt", func(t *testing.T, step string) string {
		if text, is := strings.CutPrefix(step, "json "); is {
			v, err := ParseJSON(written(text))
			if err != nil {
				return err.Error()
			}
			return briefValue(v)
		}
		if text, is := strings.CutPrefix(step, "keys "); is {
			fields, _, err := ParseYAML(written(text))
			if err != nil {
				return err.Error()
			}
			return brief(Document{Fields: fields})
		}
		if rest, is := strings.CutPrefix(step, "id "); is {
			id, text, _ := strings.Cut(rest, " ")
			return fmt.Sprint(HasID(written(text), id))
		}
		data := written(step)
		for name, order := range map[string]binary.AppendByteOrder{"le ": binary.LittleEndian, "be ": binary.BigEndian} {
			if text, is := strings.CutPrefix(step, name); is { // UTF-16
				data = nil
				for _, unit := range utf16.Encode([]rune("\ufeff" + string(written(text)))) {
					data = order.AppendUint16(data, unit)
				}
			}
		}
		doc, err := Parse(data)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) {
				t.Errorf("%s: it is no *SyntaxError: %v", step, err)
			}
			return err.Error()
		}
		out := brief(doc)
		if doc.Body != "" {
			out += fmt.Sprintf("body in line %d: %q\n", doc.BodyLine, doc.Body)
		}
		for _, one := range doc.Dropped {
			out += fmt.Sprintf("dropped in line %d, column %d: %s\n", one.Line, one.Column, one.Problem())
		}
		return out
	})
}

func TestFixturesOfARealUserParse(t *testing.T) {
	files, err := filepath.Glob("testdata/data-dir/*/*.md")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		testkit.Must(t, err)
		doc, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if id, ok := doc.Get("id"); !ok || id.Value.Text == "" || doc.Body == "" {
			t.Errorf("%s: id %v, body %q", name, id, doc.Body)
		}
	}
}

func TestBrokenFixturesFailAtTheRightPlace(t *testing.T) {
	want := map[string]string{
		"front-matter-list.md":   "line 2, column 1: the front matter is a list",
		"no-front-matter.md":     "line 1, column 1: no front matter",
		"yaml-unclosed-quote.md": "line 3, column 7: the quote that opens here is never closed",
	}
	files, err := filepath.Glob("testdata/broken/*.md")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		testkit.Must(t, err)
		_, err = Parse(data)
		says, broken := want[filepath.Base(name)]
		if broken != (err != nil) || broken && !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
}

func TestAPointerIntoJSONHasAPlace(t *testing.T) {
	v, err := ParseJSON([]byte("{\"é\": [1, \"x\",\n  true], \"a_b\": null}\n"))
	testkit.Must(t, err)
	if diff := cmp.Diff(map[string]any{"é": []any{json.Number("1"), "x", true}, "a_b": nil}, v.JSON()); diff != "" {
		t.Error(diff)
	}
	f := Field{Line: 9, Column: 9, Value: v}
	for pointer, want := range map[string]string{"": "9:9", "/é": "1:2", "/é/2": "2:3", "/é/3": "1:2", "/a_b/x": "2:10", "/b": "9:9"} {
		if line, column := f.At(pointer); fmt.Sprintf("%d:%d", line, column) != want {
			t.Errorf("%q is at %d:%d, want %s", pointer, line, column, want)
		}
	}
}

func TestGarbageIsRefusedQuickly(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "a: ", "&a ", "!!a ", "- - ", "\"", "'", "a:\n ", "|\n", "{a: ", "*a ", "%", "#", ": ", ",", "a: [\n", "- a\n", "? a\n"} {
		in := "---\n" + strings.Repeat(unit, maxFrontMatter/len(unit)-8) + "\n---\n"
		_, _ = Parse([]byte(in))
	}
	for what, in := range map[string]string{"64 KiB": "---\nd: \"" + strings.Repeat("x", maxFrontMatter) + "\"\n---\n", "nested too deeply": "---\na: " + strings.Repeat("[", 200) + "\n---\n"} {
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
	for size, fits := range map[int]bool{maxFrontMatter: true, maxFrontMatter + 1: false} {
		if _, _, err := ParseYAML([]byte("a: " + strings.Repeat("x", size-3))); (err == nil) != fits || err != nil && err.Error() != "line 1, column 1: "+msgFileSize {
			t.Errorf("a file of %d bytes: %v", size, err)
		}
	}
	for n, fits := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		if _, err := Parse([]byte("---\na: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n---\n")); (err == nil) != fits {
			t.Errorf("%d lists in each other: %v", n, err)
		}
	}
	for n, fits := range map[int]bool{maxLines: true, maxLines + 1: false} {
		if _, err := Parse([]byte("---\na: x\n" + strings.Repeat("\n", n-2) + "---\n")); (err == nil) != fits {
			t.Errorf("%d lines: %v", n, err)
		}
	}
}
