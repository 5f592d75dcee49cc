package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// folderName is the folder of the doors in the bot's private folder.
	folderName = "control"
	lockName   = "lock"
)

// place is the folder that contains the doors. Its lock shows that its bot is running.
type place struct {
	folder string
	lock   *os.File
}

// openPlace creates the folder in dir and removes what a killed bot left there. If doors cannot be
// created in it, it creates a new private folder elsewhere.
func openPlace(dir string) (place, error) {
	folder := filepath.Join(dir, folderName)
	if err := os.RemoveAll(folder); err == nil {
		if p, err := take(folder); err == nil {
			return p, nil
		}
		_ = os.RemoveAll(folder) // it is unusable
	}
	folder, err := freshFolder(dir)
	if err != nil {
		return place{}, err
	}
	p, err := take(folder)
	if err != nil {
		return place{}, errors.Join(err, os.RemoveAll(folder))
	}
	return p, nil
}

// take creates a folder if it is missing, locks it, and tests whether a door can be created in it.
func take(folder string) (place, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return place{}, err
	}
	lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return place{}, err
	}
	p := place{folder: folder, lock: lock}
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) // without the lock, another bot may remove the folder at its start
	trial, err := openDoor(filepath.Join(folder, "0"))
	if err == nil {
		err = trial.Close()
	}
	if err != nil {
		return place{}, errors.Join(err, p.lock.Close())
	}
	return p, nil
}

// freshFolder creates a folder that only this user can enter, and removes those of earlier runs:
// all for the same directory, and others whose bot has ended. The folder's name is unpredictable,
// because other users may be able to write to its parent.
func freshFolder(dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	prefix := "ollim-" + hex.EncodeToString(sum[:4]) + "-"
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if !filepath.IsAbs(parent) || len(parent) > maxParent {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(parent, "ollim-*-*")) // cleanup is best effort
		for _, folder := range left {
			if strings.HasPrefix(filepath.Base(folder), prefix) || abandoned(folder) {
				_ = os.RemoveAll(folder) // fails for other users' folders
			}
		}
		if folder, err := os.MkdirTemp(parent, prefix); err == nil {
			return folder, nil
		}
	}
	return "", errors.New(textNoPlace)
}

// abandoned reports whether a folder has the lock of a bot that has ended.
func abandoned(folder string) bool {
	lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer lock.Close()
	return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// close removes the folder.
func (p place) close() error { return errors.Join(os.RemoveAll(p.folder), p.lock.Close()) }
