package clean

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName bounds FileName, in bytes: file systems take 255, and there is
// room for a number behind it. An extension longer than maxExt is none.
const maxFileName, maxExt = 160, 16

// FileName makes a name from outside fit to be a file's: the last element of a
// path, on one line, without a leading dot or dash or invisible characters, cut at a
// character and with its extension kept. Square brackets become round ones, for
// the name stands between square ones in prompts. What is left of nothing is
// "file".
func FileName(s string) string {
	s = Line(s)
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.TrimLeft(strings.TrimRight(strings.Join(strings.Fields(s), " "), ". "), "-. ")
	ext := filepath.Ext(s)
	if len(ext) > maxExt || strings.Contains(ext, " ") {
		ext = ""
	}
	stem := strings.TrimSuffix(s, ext)
	for len(stem)+len(ext) > maxFileName {
		_, n := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-n]
	}
	if stem = strings.TrimRight(stem, ". "); stem == "" {
		stem = "file"
	}
	return stem + ext
}
