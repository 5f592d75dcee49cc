// Package selfupdate owns how the program's own file is replaced by that of a
// release, and put back: which release there is, whether it is signed with the key
// of this program, whether it is newer and runs here, and the order of the steps, so
// that at each moment a whole program stands in the place. It must not know the bot,
// the command line, or where a setting comes from.
//
// A release is a directory, or an address, with flat names: SHA256SUMS, its minisign
// signature SHA256SUMS.minisig, and the programs, ollim-bot_VERSION_PLATFORM each.
// Only the signature is trusted: neither the place nor the way to it.
package selfupdate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// builtIn is the public key of releases, the second line of minisign's file. A
// variable, because the linker sets it:
// -ldflags "-X ollimbot/core/storage/selfupdate.builtIn=RWQ…". Nothing else writes it.
var builtIn string

// Program is the program's file, and where its releases come from.
type Program struct {
	Path     string // its file; of a link, what it leads to
	Version  string // that runs, "1.2.3"
	Platform string // the end of a file's name: "linux_amd64"
	Key      string // minisign's public key; empty: none
	Source   string // a directory, or an address that begins with http; empty: none

	packages string       // where Debian lists the files of its packages
	client   *http.Client // nil: the usual one
}

// Here is the program that runs, of a version, with the key that it was built with.
// The error says that its file cannot be found.
func Here(version, source string) (Program, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Program{}, fmt.Errorf(textNoPath, err)
	}
	return Program{
		Path: path, Version: version, Platform: Platform(runtime.GOOS, runtime.GOARCH), Key: builtIn, Source: source,
		packages: "/var/lib/dpkg/info",
	}, nil
}

// Platform is how releases call a system and a processor in Go's words.
func Platform(goos, goarch string) string {
	if goarch == "arm" {
		goarch = "armv6" // the least that we build for, and it runs on all later ones
	}
	return goos + "_" + goarch
}

// Order says what is to be done; without any, the newest release is installed.
type Order struct {
	Check    bool // only look
	Rollback bool // go back to what the last update has replaced
	Force    bool // take an older release too, and the same one once more
}

// Result is what has come of it.
type Result struct {
	Text      string // in sentences
	Installed string // the version that now stands in the place
	Changed   bool   // it stood not there before
}

// Do carries an order out. Its errors are sentences for people; on one of them the
// program's file is as it was. It may take as long as the network does, until ctx
// ends; of two at the same time the second is refused.
func (p Program) Do(ctx context.Context, o Order) (Result, error) {
	files, _ := os.ReadFile(filepath.Join(p.packages, "ollim-bot.list")) // mostly there is none
	switch {
	case slices.Contains(strings.Split(string(files), "\n"), p.Path):
		return Result{}, fmt.Errorf(textPackage, p.Path)
	case p.Key == "" && !o.Rollback:
		return Result{}, fmt.Errorf(textNoKey, p.Version)
	case p.Source == "" && !o.Rollback:
		return Result{}, fmt.Errorf(textNoSource, p.Version)
	}
	if !o.Check {
		done, err := p.claim()
		if err != nil {
			return Result{}, err
		}
		defer done()
	}
	if o.Rollback {
		return p.rollback(ctx)
	}
	r, err := p.newest(ctx)
	if err != nil {
		return Result{}, err
	}
	here := p.installed(ctx)
	switch c := compare(r.version, here); {
	case c > 0 && o.Check:
		return Result{Text: fmt.Sprintf(textIsThere, r.version, here), Installed: here}, nil
	case c == 0 && !o.Force, o.Check:
		return Result{Text: fmt.Sprintf(textNewest, here, r.version), Installed: here}, nil
	case c < 0 && !o.Force:
		return Result{}, fmt.Errorf(textOlder, r.version, here)
	}
	if err := p.install(ctx, r, here); err != nil {
		return Result{}, err
	}
	return p.replaced(r.version, here), nil
}

// installed is the version in the program's place, which another update may have
// put there since this process began; that of this process where it does not say.
func (p Program) installed(ctx context.Context) string {
	if v, err := says(ctx, p.Path); err == nil {
		return v
	}
	return p.Version
}

// install puts a release in the program's place: written beside and tried first,
// then a copy of the old one, then the change of names.
func (p Program) install(ctx context.Context, r release, here string) error {
	fresh, err := p.download(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(fresh) }() // it is gone where all went well
	switch v, err := says(ctx, fresh); {
	case err != nil:
		return fmt.Errorf(textWillNotRun, r.file(p.Platform), err)
	case v != r.version:
		return fmt.Errorf(textOtherVersion, r.file(p.Platform), v)
	}
	if here != r.version { // else what is kept stays: going back to the same one is no way back
		if err := p.keep(); err != nil {
			return err
		}
	}
	return p.rename(fresh, p.Path)
}

// keep makes a copy of the program that --rollback finds.
func (p Program) keep() error {
	f, err := os.Open(p.Path)
	if err != nil {
		return p.advise(err)
	}
	defer f.Close()
	copied, err := p.beside(".keep", f)
	if err != nil {
		return err
	}
	return p.rename(copied, p.old())
}

// rollback changes places with what the last update has kept, so that a second one
// goes forward again.
func (p Program) rollback(ctx context.Context) (Result, error) {
	back, err := says(ctx, p.old())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Result{}, fmt.Errorf(textNothingKept, p.old())
	case err != nil:
		return Result{}, fmt.Errorf(textWillNotRun, p.old(), err)
	}
	here := p.installed(ctx)
	f, err := os.Open(p.Path)
	if err != nil {
		return Result{}, p.advise(err)
	}
	defer f.Close()
	forward, err := p.beside(".keep", f)
	if err != nil {
		return Result{}, err
	}
	if err := p.rename(p.old(), p.Path); err != nil {
		_ = os.Remove(forward) // the first error is the one to tell
		return Result{}, err
	}
	if err := p.rename(forward, p.old()); err != nil {
		return Result{}, err
	}
	return p.replaced(back, here), nil
}

func (p Program) replaced(now, before string) Result {
	return Result{Text: fmt.Sprintf(textInstalled, now, p.Path, before, p.old()), Installed: now, Changed: true}
}

// old is where the replaced program is kept.
func (p Program) old() string { return p.Path + ".old" }

// download writes the release's program beside ours and holds it against its sum.
func (p Program) download(ctx context.Context, r release) (path string, err error) {
	name := r.file(p.Platform)
	src, err := p.open(ctx, name)
	if err != nil {
		return "", err
	}
	defer src.Close()
	sum := &sum{from: io.LimitReader(src, maxProgram), hash: sha256.New()}
	path, err = p.beside(".new", sum)
	switch {
	case sum.err != nil: // nothing is beside then
		return "", fmt.Errorf(textRead, name, p.Source, sum.err)
	case err != nil:
		return "", err
	case hex.EncodeToString(sum.hash.Sum(nil)) != r.sums[name]:
		_ = os.Remove(path) // the first error is the one to tell
		return "", fmt.Errorf(textSum, name, p.Source)
	}
	return path, nil
}

// sum adds up what is read through it, and keeps why reading has failed.
type sum struct {
	from io.Reader
	hash hash.Hash
	err  error
}

func (s *sum) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.hash.Write(p[:n])
	if !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
