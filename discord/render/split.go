package render

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

const (
	fence = "```"
	// natural is the distance from the limit within which a text is split at a line break
	// or space.
	natural = 200
	// leastBlock is the limit below which code blocks are split like text: closing and
	// reopening them would leave no room for their content.
	leastBlock = 64
	// maxLanguage limits the name of a language.
	maxLanguage = 32
)

// Part is a part of a split text. Open and Close are added to Text where a code block or a style such as bold is cut,
// so that both parts keep their formatting.
type Part struct{ Open, Text, Close string }

// String returns the part as it is sent. A style is closed right after its last word.
func (p Part) String() string {
	said := p.Text
	if !p.cutsBlock() {
		said = strings.TrimRight(said, " \n")
	}
	return p.Open + said + p.Close + p.Text[len(said):]
}

// cutsBlock reports whether Close ends a code block.
func (p Part) cutsBlock() bool { return strings.HasSuffix(p.Close, fence) }

// Split splits a text into parts of at most limit UTF-16 units: after the last line break among the last 200 of a
// part, else after the last space there, else at the limit. The separator stays with the earlier part. A code block
// that is cut is closed and reopened with its language, and so are bold and other styles. Without these additions,
// the parts concatenate to the text; none is empty.
func Split(text string, limit int) []string {
	var out []string
	for _, p := range Parts(text, limit) {
		out = append(out, p.String())
	}
	return out
}

// Parts is Split with the positions in the text. When a text grows, all parts except the last two stay the same.
func Parts(text string, limit int) []Part {
	limit = max(limit, 2) // the longest character
	if limit < leastBlock {
		return parts(text, limit, nil)
	}
	return parts(text, limit, blocks(text))
}

func parts(text string, limit int, code []block) []Part {
	var out []Part
	style := ""
	for at := 0; at < len(text); {
		open := style + reopened(text, code, at)
		room := limit - len(open) // fences, languages and styles are ASCII
		if fits(text[at:], room) {
			return append(out, Part{Open: open, Text: text[at:]})
		}
		cut, end := cutAt(text, code, at, room)
		style = ""
		if end == "" && limit >= leastBlock {
			cut, end, style = cutStyle(text, code, at, room)
		}
		out = append(out, Part{Open: open, Text: text[at:cut], Close: end})
		at = cut
	}
	return out
}

// maxStyles is the largest number of bytes of marks closed at a cut.
const maxStyles = 8

// cutStyle is cutAt outside of a code block, with the marks to close there and to reopen in the next part.
func cutStyle(text string, code []block, at, room int) (cut int, closed, opened string) {
	for reserve := 0; reserve <= maxStyles; reserve = max(reserve+1, len(closed)) {
		cut, _ = cutAt(text, code, at, room-reserve)
		if within(code, cut) != nil {
			return cut, "", "" // with less room it ends a block's beginning
		}
		from := 0
		if i := sort.Search(len(code), func(i int) bool { return code[i].after > cut }); i > 0 {
			from = code[i-1].after
		}
		if whole := outside(text, from, cut); whole > at && !blank(text[at:whole]) && within(code, whole) == nil {
			cut = whole
		}
		moved, stack := styled(text, max(from, at-lookBack), cut)
		if moved <= at || within(code, moved) != nil {
			return cut, "", ""
		}
		closed, opened = reversed(stack), strings.Join(stack, "")
		if closed == "" || fits(text[at:moved], room-len(closed)) && !blank(text[at:moved]) {
			return moved, closed, opened
		}
	}
	return cut, "", ""
}

// cutAt returns the end of the part that starts at at, and the text that closes it.
func cutAt(text string, code []block, at, room int) (cut int, end string) {
	var b *block
	floor := begin(text, code, at)
	for _, again := range []bool{false, true} {
		reserve := 0
		if again { // for the end of the block that is cut
			reserve = len("\n" + b.quote + fence)
		}
		cut = pointOf(text[at:], floor-at, room-reserve) + at
		b = within(code, cut)
		switch {
		case b == nil:
			return cut, ""
		case b.start >= floor && (cut <= b.body || blank(text[b.body:cut])):
			return b.start, "" // the part contains nothing of the block yet
		case (cut >= b.end || blank(text[cut:b.end])) && fits(text[at:b.after], room):
			return b.after, "" // only the end of the block would be left
		}
	}
	switch {
	case cut < b.body && b.start > at: // blank lines, then the start of a mark
		return b.start, ""
	case cut < b.body: // a mark longer than a part
		return cut, ""
	case cut > b.end && b.end > at:
		cut = b.end
	}
	if strings.HasSuffix(text[at:cut], "\n") {
		return cut, b.quote + fence
	}
	return cut, "\n" + b.quote + fence
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// begin returns where a part's content starts, after the opening mark of a block at its start. Before that, a part
// has no visible text.
func begin(text string, code []block, at int) int {
	i := sort.Search(len(code), func(i int) bool { return code[i].start >= at })
	if i < len(code) && blank(text[at:code[i].start]) {
		return code[i].body
	}
	return at
}

// pointOf finds the best place to split a text with at most room units before it. A line
// break or space before floor does not count.
func pointOf(text string, floor, room int) int {
	hard := max(prefix(text, room), 1)
	low := floor
	if room > natural {
		low = max(floor, prefix(text, room-natural))
	}
	for _, separator := range []byte{'\n', ' '} {
		if i := strings.LastIndexByte(text[min(low, hard):hard], separator); i >= 0 {
			return low + i + 1
		}
	}
	return betweenCharacters(text, hard)
}

// block is a code block of a text, as byte offsets.
type block struct {
	start int // start of the opening mark
	body  int // end of the mark and its line
	end   int // start of the closing mark, or end of the text
	after int // end of the closing mark
	lang  string
	quote string // precedes each line of a block in a quote
}

// quoted begins a line of a quote.
const quoted = "> "

// blocks finds the code blocks of a text. An unclosed one reaches to the end.
func blocks(text string) []block {
	var out []block
	for at := 0; ; {
		i := strings.Index(text[at:], fence)
		if i < 0 {
			return out
		}
		b := block{start: at + i}
		b.body = ticks(text, b.start)
		if line := strings.LastIndexByte(text[:b.start], '\n') + 1; strings.TrimSpace(text[line:b.start]) == strings.TrimSpace(quoted) {
			b.start, b.quote = max(line, at), quoted
		}
		if n := language(text[b.body:]); n >= 0 {
			b.lang = text[b.body : b.body+n]
			b.body += n + 1
		}
		b.end, b.after = len(text), len(text)
		if i := strings.Index(text[b.body:], fence); i >= 0 {
			b.end = b.body + i
			b.after = ticks(text, b.end)
		}
		out = append(out, b)
		at = b.after
	}
}

// ticks returns the end of a run of backticks.
func ticks(text string, at int) int {
	for at < len(text) && text[at] == '`' {
		at++
	}
	return at
}

// language returns the length of the language in a block's first line, or -1.
func language(s string) int {
	for i := 0; i < len(s) && i <= maxLanguage; i++ {
		switch c := s[i]; {
		case c == '\n':
			return i
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_+-.#", c) >= 0:
		default:
			return -1
		}
	}
	return -1
}

// within returns the block that a cut would split, or nil.
func within(code []block, cut int) *block {
	i := sort.Search(len(code), func(i int) bool { return code[i].after > cut })
	if i < len(code) && code[i].start < cut {
		return &code[i]
	}
	return nil
}

// reopened returns the mark that reopens the block in which a part starts.
func reopened(text string, code []block, at int) string {
	b := within(code, at)
	if b == nil || at < b.body || at > b.end {
		return ""
	}
	open := b.quote + fence + b.lang + "\n"
	if text[at-1] != '\n' { // the rest of a line
		open += b.quote
	}
	return open
}

// Closed closes a code block that a text leaves open, if it fits. The answer may have been interrupted there.
func Closed(text string) string {
	code := blocks(text)
	if len(code) == 0 || code[len(code)-1].end < len(text) {
		return text
	}
	b := code[len(code)-1]
	if line := text[strings.LastIndexByte(text[:b.start], '\n')+1 : b.start]; strings.Trim(line, " >") != "" {
		return text // no mark of a block, which begins a line
	}
	end := b.quote + fence
	if !strings.HasSuffix(text, "\n") {
		end = "\n" + end
	}
	if !fits(text, MaxContent-len(end)) {
		return text
	}
	return text + end
}

// Appended adds a note to a text, which is cut and closed to make room for it.
func Appended(text, note string) string {
	return Closed(cutBlock(text, MaxContent-Length(note)-len("\n"+quoted+fence))) + note
}

const ellipsis = "…"

// Length is the length of a text in UTF-16 units, as Discord counts.
func Length(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

// width is the length of a character; an invalid one is sent as U+FFFD.
func width(r rune) int { return max(1, utf16.RuneLen(r)) }

// prefix is the length in bytes of the longest prefix of s with at most n units. It never
// ends within a character.
func prefix(s string, n int) int {
	if len(s) <= n { // a byte is at most one unit
		return len(s)
	}
	for i, r := range s {
		if n -= width(r); n < 0 {
			return i
		}
	}
	return len(s)
}

// fits reports whether s has at most n units. It reads no further than that.
func fits(s string, n int) bool { return prefix(s, n) == len(s) }

// Cut shortens a text to at most n units, including an ellipsis if something was cut. It
// keeps composed characters whole where it can.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if fits(s, n) {
		return s
	}
	return strings.TrimRight(s[:betweenCharacters(s, prefix(s, n-1))], " \n") + ellipsis
}

// cutBlock is Cut for a text with code blocks: one that is cut is closed.
func cutBlock(s string, n int) string {
	if fits(s, n) {
		return s
	}
	p := Parts(s, n-1)[0]
	if p.cutsBlock() {
		p.Close = "\n" + strings.TrimPrefix(p.Close, "\n") // its line breaks were trimmed
	}
	return p.Open + strings.TrimRight(p.Text, " \n") + ellipsis + p.Close
}

// maxCharacter limits the bytes of one composed character: a family emoji has forty, a
// hostile one any number.
const maxCharacter = 128

// betweenCharacters moves a cut backwards so that it does not split a composed character. If there is no such
// position nearby, the cut stays.
func betweenCharacters(s string, cut int) int {
	at := max(0, strings.LastIndexFunc(s[:cut], func(r rune) bool { return r < utf8.RuneSelf })) // a character starts there
	for g := displaywidth.StringGraphemes(s[at:]); g.Next() && at+len(g.Value()) <= cut; {
		at += len(g.Value())
	}
	if at == 0 || cut-at > maxCharacter {
		return cut
	}
	return at
}

const tildes = "~~~"

// Fences replaces code fences of tildes, which Discord does not render, by backticks of the same length, so that
// positions in the text stay the same. Backticks inside such a block become apostrophes, because they would end it.
func Fences(text string) string {
	if !strings.Contains(text, tildes) {
		return text
	}
	lines := strings.Split(text, "\n")
	open := "" // the fence of the block that the line is in
	for i, line := range lines {
		bare := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(bare)]
		switch {
		case open == tildes && strings.HasPrefix(bare, tildes) && strings.Trim(bare, "~ \r") == "":
			lines[i], open = indent+strings.ReplaceAll(bare, "~", "`"), ""
		case open == tildes:
			lines[i] = strings.ReplaceAll(line, fence, "'''")
		case open == fence:
			if strings.Contains(line, fence) {
				open = ""
			}
		case len(indent) < 4 && strings.HasPrefix(bare, tildes):
			info := strings.TrimLeft(bare, "~")
			lines[i], open = indent+strings.Repeat("`", len(bare)-len(info))+info, tildes
		case strings.Count(line, fence)%2 == 1:
			open = fence
		}
	}
	return strings.Join(lines, "\n")
}
