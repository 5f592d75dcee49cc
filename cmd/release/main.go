// Command release builds a release of ollim-bot in a directory: static binaries for
// all platforms, the bill of materials and the licences of each, shell completions, the
// manual page, Debian packages, and a file with the checksums of all of them, which is
// the file to sign. Builds are reproducible, which the command verifies. It must not
// know the secret key or where the release is published.
//
//	go run ./cmd/release -key RWQ…
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/storage/selfupdate"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal("release: ", err)
	}
}

// order describes the release to build.
type order struct {
	root      string // of the source
	out       string // the directory of the release
	version   string
	key       string // the public key to build in; without one, the programs cannot update themselves
	date      time.Time
	platforms []platform
	cache     string // Go's build cache; empty means the default one
}

func run(ctx context.Context, args []string) error {
	var o order
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "dist", "the directory to create")
	flags.StringVar(&o.version, "version", "", "the version (default: the newest in CHANGELOG.md)")
	flags.StringVar(&o.key, "key", "", "the public key that verifies updates: the second line of minisign's .pub file")
	only := flags.String("only", "all", "the platforms, such as linux_amd64,darwin_arm64")
	check := flags.String("check", "all", "the platforms to build again in another directory with an empty cache, and compare; or none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	twice, err := o.complete(ctx, *only, *check)
	if err != nil {
		return err
	}
	if err := o.make(ctx); err != nil {
		return err
	}
	if len(twice) > 0 {
		if err := o.rebuild(ctx, twice); err != nil {
			return err
		}
		log.Printf("built again in another directory, identical byte for byte: %s", names(twice))
	}
	log.Printf(textNext, o.version, o.out, filepath.Join(o.out, selfupdate.Sums))
	if o.key == "" {
		log.Println(textKeyless)
	}
	return nil
}

const (
	textNext    = "ollim-bot %s is in %s. Sign it: minisign -S -m %s"
	textKeyless = "No -key was given: these programs will not update themselves."
)

// complete fills in defaults and checks the arguments, before minutes of building.
func (o *order) complete(ctx context.Context, only, check string) (twice []platform, err error) {
	root, err := output(ctx, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	o.root = strings.TrimSpace(root)
	if o.version, err = versionOf(o.root, o.version); err != nil {
		return nil, err
	}
	if _, err := selfupdate.ParseKey(o.key); o.key != "" && err != nil {
		return nil, fmt.Errorf("-key: %w", err)
	}
	if o.date, err = date(ctx, o.root, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return nil, err
	}
	if o.platforms, err = choose(only, platforms); err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	if twice, err = choose(check, o.platforms); err != nil {
		return nil, fmt.Errorf("-check: %w", err)
	}
	if o.out, err = filepath.Abs(o.out); err != nil {
		return nil, err
	}
	return twice, makeEmpty(o.out)
}

var (
	heading = regexp.MustCompile(`(?m)^## ([0-9.]+)`)
	number  = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}$`)
)

// versionOf is the given version, or the newest in CHANGELOG.md.
func versionOf(root, given string) (string, error) {
	if given == "" {
		data, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
		if err != nil {
			return "", err
		}
		m := heading.FindSubmatch(data)
		if m == nil {
			return "", errors.New("CHANGELOG.md has no heading such as ## 0.1.0: add one, or use -version")
		}
		given = string(m[1])
	}
	if !number.MatchString(given) {
		return "", fmt.Errorf("%q is not a version: use three numbers such as 0.1.0", given)
	}
	return given, nil
}

// date is the date in all files: SOURCE_DATE_EPOCH, or the date of the last commit.
func date(ctx context.Context, root, epoch string) (time.Time, error) {
	if epoch == "" {
		out, err := output(ctx, root, nil, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("read the date of the last commit: %w; set SOURCE_DATE_EPOCH", err)
		}
		epoch = strings.TrimSpace(out)
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: set it to the seconds since 1970", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// makeEmpty creates an empty directory. It replaces an earlier release; for a directory
// with anything else, it returns an error.
func makeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	isSums := func(e os.DirEntry) bool { return e.Name() == selfupdate.Sums }
	if len(entries) > 0 && !slices.ContainsFunc(entries, isSums) {
		return fmt.Errorf("%s contains something other than a release: choose another directory with -out", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755) //nolint:gosec // for everybody
}

// make builds the release. The checksums are written last, so a failed build has none.
func (o order) make(ctx context.Context) error {
	work, err := os.MkdirTemp("", "ollim-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // temporary
	for _, p := range o.platforms {
		program := filepath.Join(o.out, selfupdate.FileName(o.version, p.name()))
		log.Println(filepath.Base(program))
		if err := o.build(ctx, p, program); err != nil {
			return err
		}
		if err := o.describe(ctx, program); err != nil {
			return err
		}
	}
	if err := o.generate(ctx, work); err != nil {
		return err
	}
	for _, p := range o.platforms {
		if p.debian == "" {
			continue
		}
		if err := o.deb(ctx, p, work); err != nil {
			return err
		}
	}
	return sums(o.out)
}

// output runs a command and returns its standard output. env is added to the
// environment. The error includes the command's messages.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var problem strings.Builder
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, cmp.Or(problem.String(), string(out)))
	}
	return string(out), nil
}
