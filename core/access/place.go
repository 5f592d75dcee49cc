package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"ollimbot/core/store"
)

const socketFile = store.StateDir + "/attach.sock"

// places are where the socket may be, the best first: in the data directory, or where
// that has too long a path in a folder that bears its hash.
func places(d *store.Dir) (paths []string) {
	sum := sha256.Sum256([]byte(d.Root()))
	name := "ollim-bot-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(sum[:6])
	paths = append(paths, d.Path(socketFile))
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if filepath.IsAbs(parent) {
			paths = append(paths, filepath.Join(parent, name, "attach.sock"))
		}
	}
	var short []string
	for _, p := range paths {
		if len(p) <= store.MaxSocketPath {
			short = append(short, p)
		}
	}
	return short
}

// ours refuses a folder that somebody else could have made, or can write.
func ours(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(s.Uid) != os.Getuid() {
		return fmt.Errorf(textNotOurs, folder)
	}
	return nil
}

// Listen opens the socket in the first place that takes it, and removes what a bot that
// was killed has left there: whoever calls holds the lock of the directory. Closing the
// listener removes it.
func Listen(d *store.Dir) (net.Listener, error) {
	var errs []error
	for _, path := range places(d) {
		l, err := listen(path)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(append(errs, errors.New(textNoPlace))...)
}

func listen(path string) (net.Listener, error) {
	folder := filepath.Dir(path)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := ours(folder); err != nil {
		return nil, err
	}
	return store.ListenSocket(path)
}

// Dial reaches the bot of a directory. What is wrong is the error of the first place.
func Dial(d *store.Dir) (net.Conn, error) {
	var first error
	for _, path := range places(d) {
		err := ours(filepath.Dir(path))
		if err == nil {
			var conn net.Conn
			if conn, err = net.Dial("unix", path); err == nil {
				return conn, nil
			}
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New(textNoPlace)
	}
	return nil, first
}
