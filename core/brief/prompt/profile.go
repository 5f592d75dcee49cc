package prompt

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/routines"
)

// Profile is the part of the system prompt that the user writes: the contents of IDENTITY.md and USER.md, empty if
// missing.
type Profile struct{ Identity, User string }

// maxProfileNews is the longest description of a change, in bytes. A larger change is only mentioned.
const maxProfileNews = 4 << 10

// Changed returns what is new since before as the last paragraph of a message, or "". The prompt at the beginning of a
// conversation stays as it was, because everything after it is cached.
func (p Profile) Changed(before Profile) string {
	var list []string
	for _, f := range []struct{ name, before, now string }{
		{"IDENTITY.md", before.Identity, p.Identity}, {"USER.md", before.User, p.User},
	} {
		was, now := strings.TrimSpace(keepTabs(f.before)), strings.TrimSpace(keepTabs(f.now))
		if was == now {
			continue
		}
		lines := strings.Split(routines.Diff([]byte(was), []byte(now)), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "@@") }) // numbers of lines
		text := fmt.Sprintf(textProfileChanged, f.name, strings.Join(lines, "\n"))
		switch {
		case now == "":
			text = fmt.Sprintf(textProfileGone, f.name)
		case len(text) > maxProfileNews:
			text = fmt.Sprintf(textProfileRead, f.name)
		}
		list = append(list, text)
	}
	return strings.Join(list, "\n\n")
}

const (
	textProfileChanged = "[profile] %s has changed (- is gone, + counts from now on):\n%s"
	textProfileGone    = "[profile] %s is gone: what it said does not count any more."
	textProfileRead    = "[profile] %s has changed: read it before you answer."
)
