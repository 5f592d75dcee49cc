package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// kept is how much of a line stands on the screen already: the bytes of its
// beginning that are as before, and their width in cells. It ends only where no
// attribute is open and a new character begins, so that the rest can be written
// by itself. Behind a sequence that is no colour it knows nothing.
func kept(was, now string) (bytes, width int) {
	n := 0
	for n < len(was) && n < len(now) && was[n] == now[n] {
		n++
	}
	open := map[string]bool{}
	for i := 0; i < n; {
		if now[i] != 0x1b {
			if len(open) == 0 && fresh(now[i]) && (i == 0 || fresh(now[i-1]) || now[i-1] == 'm') {
				bytes = i
			}
			i++
			continue
		}
		if len(open) == 0 {
			bytes = i
		}
		end := strings.IndexByte(now[i:], 'm')
		if end < 0 || i+end >= n || !strings.HasPrefix(now[i:], "\x1b[") || strings.Trim(now[i+2:i+end], "0123456789;") != "" {
			break
		}
		follow(open, now[i+2:i+end])
		i += end + 1
	}
	return bytes, ansi.StringWidth(now[:bytes])
}

// fresh reports whether a byte is a character of its own, with which nothing
// before it can join.
func fresh(b byte) bool { return b >= 0x20 && b < 0x7f }

// follow notes what the parameters of a colour sequence open and close.
func follow(open map[string]bool, parameters string) {
	fields := strings.Split(parameters, ";")
	for i := 0; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == "" || f == "0":
			clear(open)
		case f == "38" || f == "48":
			open[f] = true
			if i+1 < len(fields) && fields[i+1] == "2" {
				i += 4
			} else {
				i += 2
			}
		case f == "39":
			delete(open, "38")
		case f == "49":
			delete(open, "48")
		case f == "22":
			delete(open, "1")
		case len(f) == 2 && f[0] == '2':
			delete(open, f[1:])
		case f == "1" || f == "2":
			open["1"] = true
		case len(f) == 2 && (f[0] == '3' || f[0] == '9'):
			open["38"] = true
		case len(f) == 2 && f[0] == '4' || len(f) == 3:
			open["48"] = true
		default:
			open[f] = true
		}
	}
}
