package sandbox

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/storage/config"
)

// seatbelt rewrites cmd to run under macOS's sandbox-exec, which cannot be nested, so the commands
// of claude share claude's sandbox.
func seatbelt(cmd *exec.Cmd, exe string, v *view) {
	v.env = config.With(v.env, "TMPDIR", cmp.Or(v.tmp, os.TempDir()))
	cmd.Args = slices.Concat([]string{exe, "-p", v.seatbelt(os.TempDir()), cmd.Path}, cmd.Args[1:])
	cmd.Path, cmd.Env = exe, v.env
}

// seatbelt returns the view as a macOS profile. Later rules override earlier ones. The system can
// be read, because programs there need parts of it that are documented nowhere; the home
// directories and other disks cannot.
func (v *view) seatbelt(tmp string) string {
	var b strings.Builder
	rule := func(words ...string) { b.WriteString("(" + strings.Join(words, " ") + ")\n") }
	rule("version 1")
	rule("allow default")
	rule("deny file-write*")
	rule("allow file-write*", subpath("/dev"), subpath("/private/tmp"), subpath(resolved(tmp)))
	rule("deny file-read*", subpath("/Users"), subpath("/Volumes"), subpath("/private/var/root"))
	if v.home != "" {
		rule("deny file-read*", subpath(v.home))
		// A path can only be opened if its folders can be looked up.
		for dir := v.data; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			rule("allow file-read-metadata", literal(filepath.Dir(dir)))
		}
	}
	for _, m := range v.mounts {
		switch m.How {
		case readOnly:
			rule("deny file-write*", subpath(m.To))
			rule("allow file-read*", subpath(m.To))
		case writable:
			rule("allow file-read* file-write*", subpath(m.To))
		case copied:
			rule("allow file-read* file-write*", literal(m.To))
		case empty, hidden:
			rule("deny file-read* file-write*", literal(m.To))
		case private:
			if m.To != v.home && m.To != "/tmp" && filepath.Base(m.To) != shellFolder {
				rule("deny file-read* file-write*", subpath(m.To))
			}
		}
	}
	if door := config.Lookup(v.env, doorVar); door != "" {
		rule("allow file-read* file-write*", literal(door))
	}
	if !v.network {
		rule("deny network*")
		rule("allow network* (local unix) (remote unix)")
	}
	// Processes outside the sandbox cannot be signalled.
	rule("deny signal")
	rule("allow signal (target same-sandbox)")
	return b.String()
}

func subpath(path string) string { return "(subpath " + strconv.Quote(path) + ")" }

func literal(path string) string { return "(literal " + strconv.Quote(path) + ")" }
