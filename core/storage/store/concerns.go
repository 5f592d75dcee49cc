package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Concerns are sentences about the directory that the user should know: who else
// can change what the bot does. Each names the cure. Directories on the way that
// everybody can write to, such as /tmp, do not count where they are sticky.
func (d *Dir) Concerns() []string {
	var list []string
	for _, rel := range []string{".", StateDir} {
		info, err := os.Stat(d.Path(rel))
		if err != nil {
			continue
		}
		name := filepath.Join(d.Display(), rel)
		if uid, ok := foreign(info); ok {
			list = append(list, fmt.Sprintf(msgForeign, name, uid, name))
		}
		if info.Mode().Perm()&0o022 != 0 {
			list = append(list, fmt.Sprintf(msgWritable, name, info.Mode().Perm(), name))
		}
	}
	if was := d.opened.Load(); was != nil {
		list = append(list, fmt.Sprintf(msgWasWritable, d.Display(), was.Perm()))
	}
	return list
}

// Trusted reports whether nobody but the user can have put commands into the
// directory: it belongs to the user, and others cannot write to it.
func (d *Dir) Trusted() error {
	for _, rel := range []string{".", "skills"} {
		info, err := os.Stat(d.Path(rel))
		if err != nil {
			continue
		}
		uid, ok := foreign(info)
		name := filepath.Join(d.Display(), rel)
		switch {
		case ok:
			return fmt.Errorf(msgForeign, name, uid, name)
		case info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf(msgWritable, name, info.Mode().Perm(), name)
		}
	}
	return nil
}

// tighten takes the directory away from others who can write to it, where it is
// the user's, and remembers that they could.
func (d *Dir) tighten() {
	info, err := os.Stat(d.root)
	if err != nil || info.Mode().Perm()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return
	}
	if _, ok := foreign(info); ok {
		return
	}
	was := info.Mode()
	if os.Chmod(d.root, was.Perm()&^0o022) == nil { // else Concerns says that it is open
		d.opened.Store(&was)
	}
}

// foreign is the id of the user whose file it is, where that is somebody else.
func foreign(info fs.FileInfo) (uid int, ok bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), int(stat.Uid) != os.Geteuid()
}
