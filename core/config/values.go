package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/clean"
)

// bounds are the least and the greatest number that is accepted.
type bounds struct{ low, high int }

// whole reads a number of plain digits within bounds.
func whole(s string, b bounds) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && digits(s) && n >= b.low && n <= b.high
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func oneOf(to *string, s string, accepted ...string) bool {
	if !slices.Contains(accepted, s) {
		return false
	}
	*to = s
	return true
}

func model(to *string, s string) bool {
	s = strings.ToLower(s)
	switch s {
	case "", "null", "none", "default":
		*to = ""
		return true
	}
	return oneOf(to, s, "opus", "sonnet", "haiku")
}

// thinking reads off, adaptive or a budget in tokens.
func thinking(to *string, s string) bool {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && digits(s) {
		*to = strconv.Itoa(n)
		return true
	}
	return oneOf(to, strings.ToLower(s), "off", "adaptive")
}

// budget is a thinking mode in people's words: "off", "8k budget". A budget
// below a thousand tokens is told in full, since "0k" would hide it.
func budget(mode string) string {
	n, err := strconv.Atoi(mode)
	switch {
	case err != nil:
		return mode
	case n < 1000:
		return mode + " tokens budget"
	}
	return strconv.Itoa(n/1000) + "k budget"
}

func boolean(to *bool, s string) bool {
	switch strings.ToLower(s) {
	case "true", "on", "yes", "1":
		*to = true
	case "false", "off", "no", "0":
		*to = false
	default:
		return false
	}
	return true
}

// memory reads a size in bytes, or with KB, MB or GB behind it.
func memory(to *int64, s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	shift := 0
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"GIB", 30}, {"MIB", 20}, {"KIB", 10}, {"GB", 30}, {"MB", 20}, {"KB", 10}, {"G", 30}, {"M", 20}, {"B", 0}} {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, shift = rest, u.shift
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !digits(s) || n > 1<<50>>shift || n<<shift < 64<<20 {
		return false
	}
	*to = n << shift
	return true
}

// size is a number of bytes in the largest unit that tells it exactly.
func size(n int64) string {
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"GB", 30}, {"MB", 20}, {"KB", 10}} {
		if n>>u.shift<<u.shift == n {
			return strconv.FormatInt(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

const (
	maxID  = 200 // bytes of one id of Google's
	maxIDs = 50
	// maxPath is the longest path, in bytes.
	maxPath = 1000
)

// word reads an id: one word without odd characters.
func word(to *string, s string) bool {
	if s == "" || len(s) > maxID || s != clean.Line(s) || strings.ContainsAny(s, " ,\"\\") {
		return false
	}
	*to = s
	return true
}

// list reads ids separated by commas; spaces around them do not count.
func list(to *string, s string) bool {
	ids := strings.Split(s, ",")
	for i := range ids {
		if !word(&ids[i], strings.TrimSpace(ids[i])) {
			return false
		}
	}
	if len(ids) > maxIDs {
		return false
	}
	*to = strings.Join(ids, ",")
	return true
}

// paths reads absolute paths, separated by commas, each with ":rw" behind it or
// without.
func paths(to *string, s string) bool {
	if s == "" || strings.EqualFold(s, "none") {
		*to = ""
		return true
	}
	list := strings.Split(s, ",")
	for i, item := range list {
		item = strings.TrimSpace(item)
		path := strings.TrimSuffix(item, ":rw")
		if path != clean.Line(path) || len(path) > maxPath || !strings.HasPrefix(path, "~/") && !filepath.IsAbs(path) {
			return false
		}
		list[i] = item
	}
	*to = strings.Join(list, ",")
	return len(list) <= maxIDs
}
