package frontmatter

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestFrontMatterIsReadAsText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{
			"ordinary", "---\nid: \"a1b2\"\ncron: \"0 9 * * *\"\n---\nHello\n",
			"2:1 id = quoted 2:5 \"a1b2\"\n3:1 cron = quoted 3:7 \"0 9 * * *\"\n",
		},
		{
			"scalars that YAML would change stay text",
			"---\na: 12e45678\nb: 12345678\nc: 2026-11-23T09:40:00\nd: yes\ne: 0x1F\nf: 1_000\ng: .inf\nh: -5\ni: 007\nj: True\n---\n",
			"2:1 a = 2:4 \"12e45678\"\n3:1 b = 3:4 \"12345678\"\n4:1 c = 4:4 \"2026-11-23T09:40:00\"\n" +
				"5:1 d = 5:4 \"yes\"\n6:1 e = 6:4 \"0x1F\"\n7:1 f = 7:4 \"1_000\"\n8:1 g = 8:4 \".inf\"\n" +
				"9:1 h = 9:4 \"-5\"\n10:1 i = 10:4 \"007\"\n11:1 j = 11:4 \"True\"\n",
		},
		{
			"nothing is null in all its spellings", "---\na:\nb: ~\nc: null\nd: \"null\"\ne: # why\n---\n",
			"2:1 a = null 2:1\n3:1 b = null 3:4\n4:1 c = null 4:4\n5:1 d = quoted 5:4 \"null\"\n6:1 e = null 6:1\n",
		},
		{
			"both key styles", "---\nallow_ping: true\nmax-chain: 3\n---\n",
			"2:1 allow-ping = 2:13 \"true\"\n3:1 max-chain = 3:12 \"3\"\n",
		},
		{
			"a mark, empty lines, CRLF and spaces after the fences", "\ufeff\r\n---  \r\nid: x\r\n---\t\r\nBody\r\n",
			"3:1 id = 3:5 \"x\"\n",
		},
		{"comments", "---\n# head\nid: x # tail\n  # odd\ncolor: a#b\n---\n", "3:1 id = 3:5 \"x\"\n5:1 color = 5:8 \"a#b\"\n"},
		{
			"quotes and escapes", "---\na: 'it''s'\nb: \"a \\\"b\\\" \\x2d \\u00e9 \\n\"\nc: \"\"\nd: ''\n---\n",
			"2:1 a = quoted 2:4 \"it's\"\n3:1 b = quoted 3:4 \"a \\\"b\\\" - é \\n\"\n4:1 c = quoted 4:4 \"\"\n5:1 d = quoted 5:4 \"\"\n",
		},
		{
			"a list, indented", "---\nskills:\n  - a\n  # why\n  - \"b c\"\n\nid: x\n---\n",
			"2:1 skills = list 3:3 (3:5 \"a\", quoted 5:5 \"b c\")\n7:1 id = 7:5 \"x\"\n",
		},
		{
			"a list, not indented", "---\nskills:\n- a\n-  b\nid: x\n---\n",
			"2:1 skills = list 3:1 (3:3 \"a\", 4:4 \"b\")\n5:1 id = 5:5 \"x\"\n",
		},
		{
			"flow lists", "---\na: [x, \"y, z\", 'w']\nb: []\nc: [ Bash(ls *), null, ] # why\n---\n",
			"2:1 a = list 2:4 (2:5 \"x\", quoted 2:8 \"y, z\", quoted 2:16 \"w\")\n3:1 b = list 3:4 ()\n" +
				"4:1 c = list 4:4 (4:6 \"Bash(ls *)\", null 4:18)\n",
		},
		{
			"three dashes inside a value", "---\nid: a---b\nd: \"x --- y\"\n---\nbody\n",
			"2:1 id = 2:5 \"a---b\"\n3:1 d = quoted 3:4 \"x --- y\"\n",
		},
		{
			"colons and dashes inside plain text", "---\nat: 09:40:00\nurl: http://x/y\nd: -x\ne: a - b\n---\n",
			"2:1 at = 2:5 \"09:40:00\"\n3:1 url = 3:6 \"http://x/y\"\n4:1 d = 4:4 \"-x\"\n5:1 e = 5:4 \"a - b\"\n",
		},
		{
			"a literal block", "---\nd: |\n  one\n  # two\n\n  three\nid: x\n---\n",
			"2:1 d = 2:4 \"one\\n# two\\n\\nthree\\n\"\n7:1 id = 7:5 \"x\"\n",
		},
		{"a folded block", "---\nd: >-\n  one\n  two\n---\n", "2:1 d = 2:4 \"one two\"\n"},
		{"plain text that goes on below", "---\nd: one\n  two\n---\n", "2:1 d = 2:4 \"one two\"\n"},
		{
			"a mapping keeps its keys", "---\nid: x\nfields: # why\n  a_type: object\n  required:\n    - a\nb: 1\n---\n",
			"2:1 id = 2:5 \"x\"\n3:1 fields = map 4:9 {4:3 a_type = 4:11 \"object\"; 5:3 required = list 6:5 (6:7 \"a\"); }\n7:1 b = 7:4 \"1\"\n",
		},
		{"a flow mapping", "---\nm: {a: 1}\n---\n", "2:1 m = map 2:4 {2:5 a = 2:8 \"1\"; }\n"},
		{"keys indented as one", "---\n  id: x\n  b: 1\n---\n", "2:3 id = 2:7 \"x\"\n3:3 b = 3:6 \"1\"\n"},
		{"a quoted key", "---\n\"id\": x\n---\n", "2:1 id = 2:7 \"x\"\n"},
		{
			"columns count runes", "---\ntags: [ä, ö]\nd: \"é\"  # ü\n---\n",
			"2:1 tags = list 2:7 (2:8 \"ä\", 2:11 \"ö\")\n3:1 d = quoted 3:4 \"é\"\n",
		},
		{"spaces behind values", "---\na: b c  \nt: [x , y ]\nd: ~ \n---\n", "2:1 a = 2:4 \"b c\"\n3:1 t = list 3:4 (3:5 \"x\", 3:9 \"y\")\n4:1 d = null 4:4\n"},
		{"empty", "---\n---\nBody\n", ""},
		{"only comments", "---\n# a\n---\nBody\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Parse([]byte(tt.in))
			if err != nil && tt.want != "" {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, brief(doc)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWordsBelowAnItemMayBeginWithADash(t *testing.T) {
	doc, err := Parse([]byte("---\nt:\n- a\n  - @x\n---\n"))
	testkit.Must(t, err)
	if items := doc.Fields[0].Value.Items; len(items) != 1 || items[0].Text != "a - @x" {
		t.Errorf("%+v", items)
	}
}

func TestBodyIsTrimmedAndKnowsItsLine(t *testing.T) {
	tests := []struct {
		in, body string
		line     int
	}{
		{"---\nid: x\n---\nHello\n", "Hello", 4},
		{"---\nid: x\n---\n\n\n  Hello\n\n---\n\nmore\n\n", "Hello\n\n---\n\nmore", 6},
		{"---\nid: x\n---", "", 4},
		{"---\nid: x\n---\n\n", "", 4},
		{"---\r\nid: x\r\n---\r\na\r\nb\r\n", "a\nb", 4},
	}
	for _, tt := range tests {
		doc, err := Parse([]byte(tt.in))
		testkit.Must(t, err)
		if doc.Body != tt.body || doc.BodyLine != tt.line {
			t.Errorf("%q: body %q at line %d, want %q at %d", tt.in, doc.Body, doc.BodyLine, tt.body, tt.line)
		}
	}
}

func TestSyntaxErrorsNameThePlaceAndTheCure(t *testing.T) {
	long := "---\nd: \"" + strings.Repeat("x", maxFrontMatter) + "\"\n---\n"
	tests := []struct {
		name, in  string
		line, col int
		says      string
	}{
		{"nothing", "", 1, 1, "begin the file with a line of three dashes"},
		{"only text", "Hello\n---\n", 1, 1, "begin the file with a line of three dashes"},
		{"a fence that is longer", "----\nid: x\n---\n", 1, 1, "begin the file with"},
		{"unclosed", "---\nid: x\n", 1, 1, "not closed"},
		{"unclosed after an empty line", "\n---\nid: x\n", 2, 1, "not closed"},
		{"too long", long, 1, 1, "64 KiB"},
		{"a list", "---\n- a\n- b\n---\n", 2, 1, "is a list"},
		{"a word", "---\nhello\n---\n", 2, 1, "add a colon"},
		{"a number", "---\n12\n---\n", 2, 1, "`key: value`"},
		{"no colon", "---\nid: x\nbackground true\n---\n", 3, 1, "add a colon and a space"},
		{"no space", "---\nid: x\nbackground:true\n---\n", 3, 11, "put a space after the colon"},
		{"an open quote", "---\nid: \"x\"\ncron: \"0 9 * * *\nbackground: true\n---\n", 3, 7, "end the value with \""},
		{"an open quote before another quote", "---\ncron: \"0 9\nd: \"foo\"\n---\n", 2, 7, "never closed"},
		{"an open single quote", "---\nd: 'it\n---\n", 2, 4, "end the value with '"},
		{"an open quote, indented below", "---\nd: \"it\n  goes on\n---\n", 2, 4, "never closed"},
		{"text after a quote", "---\nd: \"a\" b\n---\n", 2, 8, "after the closing quote"},
		{"a colon inside", "---\nd: Lunch: eat\n---\n", 2, 9, "must be in quotes"},
		{"a colon at the end", "---\nd: Lunch:\n---\n", 2, 9, "must be in quotes"},
		{"a bare cron", "---\nid: x\ncron: */5 * * * *\n---\n", 3, 7, "must be in quotes"},
		{"a bare star in a list", "---\nt:\n  - *x\n---\n", 3, 5, "must be in quotes"},
		{"an at sign", "---\nd: @home\n---\n", 2, 4, "must be in quotes"},
		{"an exclamation mark", "---\nd: !now go\n---\n", 2, 4, "must be in quotes"},
		{"an indented key under a plain value", "---\ncron: 0 9 * * *\n  id: x\n---\n", 3, 3, "first column"},
		{"a null", "---\nnull\n---\n", 2, 1, "add a colon"},
		{"a tilde", "---\n~\n---\n", 2, 1, "a single value"},
		{"a dash behind a key", "---\nt: - a\n---\n", 2, 4, "line below its key"},
		{"an open bracket", "---\nt: [a, b\nid: x\n---\n", 2, 4, "end the list with ]"},
		{"a duplicate", "---\nid: x\nb: 1\nid: y\n---\n", 4, 1, "already set in line 2"},
		{"a duplicate in the other style", "---\nallow-ping: x\nallow_ping: y\n---\n", 3, 1, "already set in line 2"},
		{"a duplicate among odd values", "---\nid: x\nb: {a: 1}\nid: y\n---\n", 4, 1, "already set in line 2"},
		{"a tab", "---\nt:\n\t- a\n---\n", 3, 1, "use spaces"},
		{"bad bytes", "---\nid: x\nd: é\xff\n---\n", 3, 5, "UTF-8"},
		{"an escape", "---\nd: a\x1b[2J\n---\n", 2, 5, "control character"},
		{"an alias", "---\na: &x 1\nb: *x\n---\n", 2, 4, "write the value itself"},
		{"deep nesting", "---\na: " + strings.Repeat("[", 200) + "\n---\n", 2, 1, "nested too deeply"},
		{"dashes and text", "---\nid: x\n--- y\nb: 1\n---\n", 3, 5, "three dashes must be alone"},
		{"another document", "---\nid: x\n...\nb: 1\n---\n", 4, 1, "second document"},
		{"a colon inside, beyond ASCII", "---\nü: Überblick: nein\n---\n", 2, 4, "quotes"},
		{"a bare cron below a map", "---\nfields:\n  a: 1\ncron: */5 * * * *\n---\n", 4, 7, "must be in quotes"},
		{"a bare tag below a block of text", "---\nd: |\n  a: @b\nid: !x\n---\n", 4, 5, "must be in quotes"},
		{"an indented key under a list", "---\nt: [a]\n  b: 1\n---\n", 3, 3, "first column"},
		{"an indented line under a quoted value", "---\nid: \"x\"\n  b: 1\n---\n", 3, 3, "first column"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in))
			var se *SyntaxError
			if !errors.As(err, &se) {
				t.Fatalf("error is %v, want a *SyntaxError", err)
			}
			if se.Line != tt.line || se.Column != tt.col || !strings.Contains(se.Message, tt.says) {
				t.Errorf("got %v, want line %d, column %d: …%s…", se, tt.line, tt.col, tt.says)
			}
		})
	}
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

func TestAJSONFileIsReadWithItsPlaces(t *testing.T) {
	v, err := ParseJSON([]byte("{\"é\": [1, \"x\",\n  true], \"a_b\": null}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "map 1:1 {1:2 é = list 1:7 (1:8 \"1\", quoted 1:11 \"x\", 2:3 \"true\"); 2:10 a_b = null 2:17; }"
	if got := briefValue(v); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff(map[string]any{"é": []any{json.Number("1"), "x", true}, "a_b": nil}, v.JSON()); diff != "" {
		t.Error(diff)
	}
	f := Field{Line: 9, Column: 9, Value: v}
	for pointer, want := range map[string]string{"": "9:9", "/é": "1:2", "/é/2": "2:3", "/é/3": "1:2", "/a_b/x": "2:10", "/b": "9:9"} {
		if line, column := f.At(pointer); fmt.Sprintf("%d:%d", line, column) != want {
			t.Errorf("%q is at %d:%d, want %s", pointer, line, column, want)
		}
	}
	for text, want := range map[string]string{"{\n\"a\": x}": "line 2", "{\n\"a\": [1": "line 2, column 8: the file ends", "{}\n{}": "line 2, column 1: there is text"} {
		if _, err := ParseJSON([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestGarbageIsRefusedQuickly(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "a: ", "&a ", "!!a ", "- - ", "\"", "'", "a:\n ", "|\n", "{a: ", "*a ", "%", "#", ": ", ",", "a: [\n", "- a\n", "? a\n"} {
		in := "---\n" + strings.Repeat(unit, maxFrontMatter/len(unit)-8) + "\n---\n"
		_, _ = Parse([]byte(in))
	}
}

func TestAFileOfKeysIsReadWithItsPlaces(t *testing.T) {
	fields, _, err := ParseYAML([]byte("# mine\nlocal:\n  base_url: http://127.0.0.1:1\n  models:\n    - name: qwen3:8b\n      window: 8192\n    - small\n"))
	if err != nil || len(fields) != 1 || fields[0].Key != "local" || fields[0].Value.Kind != Map {
		t.Fatalf("%+v %v", fields, err)
	}
	inner := fields[0].Value.Fields
	if len(inner) != 2 || inner[0].Key != "base-url" || inner[0].Value.Text != "http://127.0.0.1:1" {
		t.Fatalf("%+v", inner)
	}
	items := inner[1].Value.Items
	if len(items) != 2 || items[0].Fields[1].Value.Text != "8192" || items[0].Fields[1].Line != 6 || items[1].Text != "small" {
		t.Errorf("%+v", items)
	}
	for text, want := range map[string]string{
		"a:\n  b: 1\n  b: 2\n": "line 3", "a: [1\n": "line 1", "\tx: 1\n": "line 1", "- a\n": "the file is a list", "a: &x 1\nb: *x\n": "anchors",
	} {
		if _, _, err := ParseYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "front matter") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
