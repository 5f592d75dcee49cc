package routines

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"ollimbot/core/storage/frontmatter"
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
