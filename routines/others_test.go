package routines

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store/storetest"
)

// in16 is a text as programs on Windows save it: in UTF-16, with or without a mark.
func in16(order binary.AppendByteOrder, mark, text string) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(mark + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

const plants = "---\nid: plants\ncron: \"0 8 * * *\"\ndescription: Pflänzchen gießen\n---\nGieß sie.\n"

// Z4: each file is read, or has the true reason why not.
func TestFilesAsOtherProgramsWriteThem(t *testing.T) {
	const mark = "\ufeff"
	for _, c := range []struct {
		what, text string
		reads      bool
		problem    string // a part of it; empty for none
	}{
		{"with a byte order mark", mark + plants, true, ""},
		{"with CRLF", strings.ReplaceAll(plants, "\n", "\r\n"), true, ""},
		{"UTF-16, little-endian", in16(binary.LittleEndian, mark, plants), true, ""},
		{"UTF-16, big-endian", in16(binary.BigEndian, mark, plants), true, ""},
		{"UTF-16 with CRLF", in16(binary.LittleEndian, mark, strings.ReplaceAll(plants, "\n", "\r\n")), true, ""},
		{"UTF-16 without a mark", in16(binary.LittleEndian, "", plants), false, "saved as UTF-16: save it as UTF-8"},
		{"half a character of UTF-16", in16(binary.LittleEndian, mark, plants) + "x", false, "saved as UTF-16: save it as UTF-8"},
		{"CR alone", strings.ReplaceAll(plants, "\n", "\r"), false, "the lines end with CR alone"},
		{"Latin-1", strings.NewReplacer("ä", "\xe4", "ß", "\xdf").Replace(plants), false, "not UTF-8 text, as in files saved as Latin-1"},
		{"Latin-1 in the body", strings.Replace(plants, "Gieß", "Gie\xdf", 1), true, "not UTF-8 text, as in files saved as Latin-1"},
		{"a merge in the keys", strings.Replace(plants, "cron", "<<<<<<< HEAD\ncron: x\n=======\n>>>>>>> theirs\ncron", 1), false, "two versions of this file"},
		{"a merge in the body", plants + "<<<<<<< HEAD\nA\n=======\nB\n>>>>>>> theirs\n", false, "two versions of this file"},
		{"a value cut by a comment", strings.Replace(plants, "gießen", "gießen #2 am Fenster", 1), true, "#2 am Fenster"},
	} {
		r, problems := ParseRoutine("routines/plants.md", []byte(c.text))
		if reads := !HasErrors(problems); reads != c.reads || reads && r.ID != "plants" {
			t.Errorf("%s: read %t as %+v: %v", c.what, reads, r.ID, problems)
		}
		if c.problem == "" && len(problems) > 0 || c.problem != "" && (len(problems) == 0 || !strings.Contains(problems[0].Message, c.problem)) {
			t.Errorf("%s: %v, want %q", c.what, problems, c.problem)
		}
	}
}

// A change by the bot leaves a text that the original program reads too.
func TestAChangedFileInUTF16BecomesUTF8(t *testing.T) {
	out, err := frontmatter.Splice([]byte(in16(binary.LittleEndian, "\ufeff", plants)), []frontmatter.Entry{{Key: "cron", Value: "0 9 * * *"}})
	if want := strings.Replace(plants, "0 8", "0 9", 1); err != nil || string(out) != want {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFilesThatAreNotReadAreNamed(t *testing.T) {
	d := storetest.Dir(t)
	for _, name := range []string{
		"one.MD", "two.markdown", "more/three.md", "more/deep.txt", "empty/notes.txt", ".trash/four.md", "#five.MD", "six.txt", "seven.md.orig", "seven.md",
	} {
		storetest.Put(t, d, "routines/"+name, strings.ReplaceAll(plants, "id: plants", "id: "+strings.NewReplacer("/", "-", ".", "-", "#", "").Replace(name)))
	}
	x := NewIndex(d, nil)
	said := func() (list []string) {
		for _, p := range x.Set().Problems {
			list = append(list, p.File+": "+string(p.Severity)+": "+p.Message)
		}
		return list
	}
	x.Scan()
	want := []string{
		"routines/more: warning: the files in this folder are ignored: move them to routines/ itself",
		"routines/one.MD: warning: this file is ignored, because only files that end in .md are read: name it one.md",
		"routines/two.markdown: warning: this file is ignored, because only files that end in .md are read: name it two.md",
	}
	if got := said(); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if n := len(x.Set().Routines); n != 1 {
		t.Errorf("%d routines", n)
	}
	testkit.Must(t, d.Remove("routines/one.MD"))
	x.Refresh([]string{"routines/one.MD"})
	if got := said(); !slices.Equal(got, want[:1:1]) && !slices.Equal(got, []string{want[0], want[2]}) {
		t.Errorf("once it has gone: %s", strings.Join(got, "\n"))
	}
}
