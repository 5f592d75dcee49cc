package routines

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
)

// longFile is the number of lines beyond which a file is warned of: a prompt of
// that size costs tokens at every fire.
const longFile = 200

// body is the prompt, cleaned, with a warning for what the cleaning took away.
func (p *parser) body() string {
	if n := lineCount(p.data); n > longFile {
		p.add(Warning, longFile+1, 1, tooLong(n))
	}
	text := p.doc.Body
	cleaned := clean.Text(text)
	if cleaned != text {
		p.warnOfBytes()
	}
	cleaned = strings.TrimSpace(cleaned)
	if cleaned == "" {
		p.add(Error, max(p.doc.BodyLine, 1), 1, emptyBody())
	}
	return cleaned
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// warnOfBytes points at the first byte that is not UTF-8 and at the first
// character that was taken out, one warning each: a binary file has thousands.
func (p *parser) warnOfBytes() {
	data := skipLines(p.data, p.doc.BodyLine-1)
	line, column := p.doc.BodyLine, 1
	var bytesNoted, charsNoted bool
	for len(data) > 0 && (!bytesNoted || !charsNoted) {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == utf8.RuneError && n == 1:
			if !bytesNoted {
				p.add(Warning, line, column, notUTF8(data[0]))
			}
			bytesNoted = true
		case removed(r) && !bytes.HasPrefix(data, []byte("\r\n")):
			if !charsNoted {
				p.add(Warning, line, column, controlCharacter(r))
			}
			charsNoted = true
		}
		data = data[n:]
		column++
	}
}

// removed reports whether cleaning takes the character out. A tab becomes
// spaces, which is nothing to warn of.
func removed(r rune) bool {
	if r == '\t' || r >= 0x20 && r < 0x7f {
		return false
	}
	s := string(r)
	return clean.Text(s) != s
}

func skipLines(data []byte, n int) []byte {
	for ; n > 0; n-- {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return nil
		}
		data = data[i+1:]
	}
	return data
}
