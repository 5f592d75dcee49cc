// Package selfupdate replaces the program's own file with that of a newer release, and restores the
// previous one. It owns the verification of a release and the order of the steps, so that a
// complete program is in place at every moment. It must not know the bot, the command line, or
// where a setting comes from.
//
// A release is a directory or an address with flat names: SHA256SUMS, its minisign signature
// SHA256SUMS.minisig, and the programs, ollim-bot_VERSION_PLATFORM. Only the signature is trusted,
// neither the server nor the connection.
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

// builtIn is the public key of releases, the second line of minisign's file. It is a variable
// because the linker sets it: -ldflags "-X ollimbot/core/storage/selfupdate.builtIn=RWQ…". Nothing
// else writes it.
var builtIn string

// Program is the program's file and the source of its releases.
type Program struct {
	Path     string // its file, with links resolved
	Version  string // of this process, "1.2.3"
	Platform string // in file names: "linux_amd64"
	Key      string // minisign's public key; empty means none
	Source   string // a directory or an http(s) address; empty means none

	packages string       // where Debian lists the files of its packages
	client   *http.Client // nil means the default one
}

// Here returns the running program, with the key that it was built with.
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

// Platform returns the name that releases use for GOOS and GOARCH.
func Platform(goos, goarch string) string {
	if goarch == "arm" {
		goarch = "armv6" // runs on all later ones too
	}
	return goos + "_" + goarch
}

// Order describes what to do. The zero Order installs the newest release.
type Order struct {
	Check    bool // only report
	Rollback bool // restore the program that the last update replaced
	Force    bool // also install an older release, or the same one again
}

// Result is the result of an Order.
type Result struct {
	Text      string `json:"message"`   // for the user
	Installed string `json:"installed"` // the version that is installed now
	Changed   bool   `json:"changed"`   // whether this Order installed it
}

// Do executes an order. Its errors are for the user and mean that the program's file is unchanged.
// It can take as long as the network does, until ctx ends. If two updates run at the same time, the
// second is refused.
func (p Program) Do(ctx context.Context, o Order) (Result, error) {
	files, _ := os.ReadFile(filepath.Join(p.packages, "ollim-bot.list")) // usually missing
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

// installed returns the version of the program's file, which may have been replaced since this
// process started. If the file does not report one, it returns that of this process.
func (p Program) installed(ctx context.Context) string {
	if v, err := says(ctx, p.Path); err == nil {
		return v
	}
	return p.Version
}

// install replaces the program with a release: it writes and tests the new file, keeps a copy of
// the old one, and renames.
func (p Program) install(ctx context.Context, r release, here string) error {
	fresh, err := p.download(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(fresh) }() // after a success it was renamed
	switch v, err := says(ctx, fresh); {
	case err != nil:
		return fmt.Errorf(textWillNotRun, r.file(p.Platform), err)
	case v != r.version:
		return fmt.Errorf(textOtherVersion, r.file(p.Platform), v)
	}
	if here != r.version { // otherwise the already kept one is more useful
		if err := p.keep(); err != nil {
			return err
		}
	}
	return p.rename(fresh, p.Path)
}

// keep makes a copy of the program for --rollback.
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

// rollback swaps the program with the one that the last update kept, so that a second
// rollback undoes the first.
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
		_ = os.Remove(forward) // report the first error
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

// old returns the path of the replaced program.
func (p Program) old() string { return p.Path + ".old" }

// download writes the release's program next to the installed one and checks its checksum.
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
	case sum.err != nil: // beside has removed its file
		return "", fmt.Errorf(textRead, name, p.Source, sum.err)
	case err != nil:
		return "", err
	case hex.EncodeToString(sum.hash.Sum(nil)) != r.sums[name]:
		_ = os.Remove(path) // report the first error
		return "", fmt.Errorf(textSum, name, p.Source)
	}
	return path, nil
}

// sum hashes everything that is read through it, and keeps the read error.
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
