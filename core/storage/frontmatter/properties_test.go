package frontmatter

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// scalarText draws scalars as in files: plain, quoted and invalid.
func scalarText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "~", "null", "true", "12e45678", "007", "0x1F", "1_000", "-5", ".5", "2026-11-23T09:40:00", "\"0 9 * * *\"",
			"*/5 * * * *", "'it''s'", "\"a \\\"b\\\"\"", "a: b", "a #b", "a#b", "# c", "[a, b]", "[]", "[ 'x', \"y\" ]", "{a: 1}",
			"|", ">", "- a", "a - b", "\"open", "x\"y\"", "@x", "%x", "!x y", "&x y", "é ü", "\"é\"", "?", "-", "a:b", ":x",
			"[Bash(ls *), Read]", "[a b,c]", "[a,]", "[[a], b]", "on", "NO", "\"a\" b", "\"\\n\\t\\x2d\\u00e9\"", "\"\\q\"",
		}),
		rapid.StringMatching(`[ -~]{0,12}`),
	)
}

// yamlText draws front matter made of likely lines.
func yamlText() *rapid.Generator[string] {
	key := rapid.SampledFrom([]string{"id", "cron", "allow-ping", "allow_ping", "a", "skills", "Zz9", "b c", "é", "9", "\"q\""})
	line := rapid.Custom(func(t *rapid.T) string {
		s := scalarText().Draw(t, "scalar")
		switch rapid.IntRange(0, 9).Draw(t, "shape") {
		case 0:
			return "# " + s
		case 1:
			return rapid.SampledFrom([]string{"", "  ", " \t"}).Draw(t, "blank")
		case 2, 3:
			return rapid.SampledFrom([]string{"- ", "  - ", "    - ", "  -   "}).Draw(t, "dash") + s
		case 4:
			return rapid.SampledFrom([]string{"", " ", "  ", "\t"}).Draw(t, "indent") + s
		case 5:
			return "  " + key.Draw(t, "key") + ": " + s
		case 6:
			return key.Draw(t, "key") + ":" + rapid.SampledFrom([]string{"", " ", " # why"}).Draw(t, "tail")
		}
		return key.Draw(t, "key") + ": " + s + rapid.SampledFrom([]string{"", "", " ", " # why"}).Draw(t, "tail")
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n") + "\n"
	})
}

// misplaced reports whether a value's text is not at its position. Tags and text on several lines
// are left out, whose positions the library only estimates.
func misplaced(lines []string, v Value) bool {
	if v.Kind != Scalar {
		return false
	}
	text := lines[v.Line-1]
	text = text[byteOffset(text, v.Column):]
	if v.Quoted {
		return !strings.HasPrefix(text, "'") && !strings.HasPrefix(text, `"`)
	}
	return !strings.HasPrefix(text, v.Text) && slices.ContainsFunc(lines, func(l string) bool {
		return strings.Contains(l, v.Text) && !strings.Contains(l, "!")
	})
}

func TestEveryValueIsWhereItsTextIs(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := "---\n" + yamlText().Draw(t, "yaml") + "---\n"
		doc, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for v := range (Value{Kind: Map, Fields: doc.Fields}).All() {
			if misplaced(strings.Split(text, "\n"), v) {
				t.Fatalf("%q: %s", text, briefValue(v))
			}
		}
	})
}

func TestParsedValuesSurviveFormatting(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "list")
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-"'\\ #:a\n\t]{0,12}`)).Draw(t, "text")
		body := strings.TrimSpace(strings.ReplaceAll(rapid.String().Draw(t, "body"), "\r\n", "\n"))
		data := Format([]Entry{{"id", text}, {"skills", list}, {"n", 7}, {"thinking", false}}, body)
		if yaml, _, _ := bytes.Cut(data[4:], []byte("\n---\n")); bytes.Contains(yaml, []byte("---")) {
			t.Fatalf("the original program would end the front matter too early: %q", data)
		}
		doc, err := Parse(data)
		if err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		for _, o := range []Entry{{"id", text}, {"skills", list}, {"n", 7}, {"thinking", false}} {
			if f, ok := doc.Get(o.Key); !ok || !equal(f.Value, o.Value) {
				t.Fatalf("%s is %q, wrote %q", o.Key, briefValue(f.Value), o.Value)
			}
		}
		if doc.Body != strings.ToValidUTF8(body, "\ufffd") {
			t.Fatalf("body %q, wrote %q", doc.Body, body)
		}
	})
}

func TestSplicingChangesOnlyWhatItShould(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		data := []byte("---\n" + yamlText().Draw(t, "yaml") + "---\nBody\n\n---\nmore\n")
		if rapid.Bool().Draw(t, "crlf") {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		key := rapid.SampledFrom([]string{"id", "allow-ping", "skills", "fresh"}).Draw(t, "key")
		value := rapid.OneOf(
			rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.SliceOfN(rapid.String(), 0, 3), func(l []string) any { return l }),
			rapid.Just[any](nil),
		).Draw(t, "value")
		before, err := Parse(data)
		out, serr := Splice(data, []Entry{{key, value}})
		if err != nil {
			if serr == nil {
				t.Fatalf("a file that cannot be read was changed: %q", out)
			}
			return
		}
		if serr != nil {
			return // written in a way that only people can change
		}
		after, err := Parse(out)
		if err != nil {
			t.Fatalf("%v in %q, was %q", err, out, data)
		}
		if err := sameBut(before, after, []Entry{{key, value}}); err != nil {
			t.Fatalf("%v: %q, was %q", err, out, data)
		}
		if _, tail, _ := bytes.Cut(data, []byte("Body")); !bytes.HasSuffix(out, append([]byte("Body"), tail...)) {
			t.Fatalf("the body changed: %q, was %q", out, data)
		}
	})
}

func FuzzFrontMatter(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.md", "testdata/data-dir/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("---\na: [b, c\nd: {e: f\n---\n"))
	f.Add([]byte("---\n? a\n: b\n- c\n<<: *d\n---\n"))
	f.Add([]byte("---\nA: \"\t0\"0\n---\n"))
	f.Add([]byte("---\nA: '\t0'0\n---\n"))
	for _, value := range []string{"\"\t0\"#000", `"\t0"#000`, `"0"#`, `'0'#0`, "\"0\"\t#0", "'0'\t", `"\x41"`, `"\u0085"`} {
		f.Add([]byte("---\nA: " + value + "\n---\n"))
		f.Add([]byte("---\nA:\n- " + value + "\n---\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse(data)
		var se *SyntaxError
		if err != nil && (!errors.As(err, &se) || se.Line < 1 || se.Column < 1 || se.Message == "" ||
			strings.ContainsFunc(se.Message, func(r rune) bool { return r < 0x20 })) {
			t.Fatalf("a poor error: %#v", err)
		}
		if err != nil {
			return
		}
		if slices.ContainsFunc(doc.Fields, func(f Field) bool { return f.Line < 1 || f.Column < 1 }) {
			t.Fatalf("a field without a place: %s", brief(doc))
		}
		if out, err := Splice(data, []Entry{{"id", "x\ny"}, {"skills", []string{"a"}}}); err == nil {
			if _, err := Parse(out); err != nil {
				t.Fatalf("%v in %q", err, out)
			}
		}
	})
}
