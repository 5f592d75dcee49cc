package render

import "strings"

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
