package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
)

// lookLimit is how long the tests may take on a busy machine.
const lookLimit = 20 * time.Second

// probe tests what this machine offers.
func (b *Box) probe() (State, string) {
	if info, err := os.Stat(b.o.Dir); err == nil && os.Getuid() == 0 {
		if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 {
			return State{Reason: reasonForeign}, ""
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	exe := b.find("bwrap")
	reason := reasonInstall
	if exe != "" {
		s := State{Kind: Bubblewrap, Version: version(ctx, exe)}
		var err error
		for _, s.Filter = range []bool{true, false} {
			trial := b.trial(exe, s)
			if err = trial.tryCommand(ctx); err == nil {
				return trial.tryInner(ctx), exe
			}
		}
		reason = fmt.Sprintf(reasonBroken, clean.FirstLine(err.Error(), maxReason))
	}
	s, ok := b.lookLandlock(ctx)
	switch {
	case ok:
		s.Reason = fmt.Sprintf(reasonLandlock, reason)
		return s, ""
	case s.Reason != "":
		reason += "; " + fmt.Sprintf(reasonNoLandlock, s.Reason)
	}
	return State{Reason: reason}, ""
}

// tryInner tests the shell for claude within the engine's sandbox.
func (b *Box) tryInner(ctx context.Context) State {
	s := b.seen
	if b.find("bash") == "" {
		s.Reason = reasonNoBash
		return s
	}
	inside := b.trial(b.exe, s)
	inside.seen.Inner = true
	err := try(ctx, inside.Engine, "/", b.find("sh"), "-c", "exec "+shell+" -c true")
	if err != nil {
		s.Reason = fmt.Sprintf(reasonOneLayer, clean.FirstLine(err.Error(), maxReason))
		return s
	}
	return inside.seen
}

// version returns the last word of "bubblewrap 0.8.0".
func version(ctx context.Context, exe string) string {
	out, err := exec.CommandContext(ctx, exe, "--version").Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// inMemory returns an open file with this text that is not on a disk.
func inMemory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(text); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write a file in memory: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("rewind a file in memory: %w", err)
	}
	return f, nil
}

// held reports whether the sandbox around this process already has a cover, so that a sandbox
// within it inherits the cover: a mount cannot be moved away, and read-only paths stay read-only.
// Each mount that is not repeated saves a command about a tenth of a millisecond. If the kernel
// cannot tell, nothing counts as held.
func held(m mount) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, m.To, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE, &s)
	if err != nil || s.Attributes_mask&s.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return false
	}
	switch m.How {
	case writable:
		return true
	case readOnly:
		return readOnlyAt(m.To)
	case hidden:
		null := s.Mode&unix.S_IFMT == unix.S_IFCHR && s.Rdev_major == nullMajor && s.Rdev_minor == nullMinor
		return null && readOnlyAt(m.To)
	}
	return false
}

// Device numbers of /dev/null.
const (
	nullMajor = 1
	nullMinor = 3
)

// readOnlyAt reports whether the mount at a path is read-only.
func readOnlyAt(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&unix.ST_RDONLY != 0
}
