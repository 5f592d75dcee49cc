package transcript

import (
	"path/filepath"
	"strings"

	"ollimbot/core/clean"
)

// withFiles adds a line for each attached file to a cleaned text. A terminal
// cannot show a file, so its name stands for it; the folders before the name
// are nobody's business in a conversation.
func withFiles(text string, files []string) string {
	lines := make([]string, 0, len(files)+1)
	if text != "" {
		lines = append(lines, text)
	}
	for _, f := range files {
		lines = append(lines, textFile+clean.Cut(clean.Line(filepath.Base(f)), maxName))
	}
	return strings.Join(lines, "\n")
}
