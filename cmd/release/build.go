package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ollimbot/core/storage/selfupdate"
)

// platform is an operating system and an architecture.
type platform struct {
	os, arch string // as GOOS and GOARCH
	// The names of the architecture in nfpm and in Debian; empty for no package.
	nfpm, debian string
}

// platforms are all platforms of a release.
var platforms = []platform{
	{"linux", "amd64", "amd64", "amd64"},
	{"linux", "arm64", "arm64", "arm64"},
	{"linux", "arm", "arm6", "armhf"},
	{os: "darwin", arch: "amd64"},
	{os: "darwin", arch: "arm64"},
}

func (p platform) name() string { return selfupdate.Platform(p.os, p.arch) }

func names(list []platform) string {
	var out []string
	for _, p := range list {
		out = append(out, p.name())
	}
	return strings.Join(out, ", ")
}

// choose returns the platforms of a list that are named: all, none, or names separated by
// commas.
func choose(given string, from []platform) ([]platform, error) {
	switch given {
	case "all":
		return from, nil
	case "none":
		return nil, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(given, ",") {
		i := slices.IndexFunc(from, func(p platform) bool { return p.name() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown platform %q: choose all, none or from %s", name, names(from))
		}
		chosen = append(chosen, from[i])
	}
	return chosen, nil
}

// build builds a static binary. It sets everything that affects the binary, so that
// nothing depends on the machine, its paths or its settings.
func (o order) build(ctx context.Context, p platform, path string) error {
	env := []string{
		"GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOARM=6", "CGO_ENABLED=0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off",
	}
	if o.cache != "" {
		env = append(env, "GOCACHE="+o.cache)
	}
	set := "-s -w -X main.version=" + o.version
	if o.key != "" {
		set += " -X ollimbot/core/storage/selfupdate.builtIn=" + o.key
	}
	_, err := output(ctx, o.root, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", set, "-o", path, "./cmd/ollim-bot")
	return err
}

// generated are the files that the program prints.
var generated = []struct {
	name string
	args []string
}{
	{"ollim-bot.1", []string{"man"}},
	{"ollim-bot.bash", []string{"completion", "bash"}},
	{"_ollim-bot", []string{"completion", "zsh"}},
	{"ollim-bot.fish", []string{"completion", "fish"}},
}

// generate writes those files. It runs the binary for this machine, and builds one if the
// release has none.
func (o order) generate(ctx context.Context, work string) error {
	here := platform{os: runtime.GOOS, arch: runtime.GOARCH}
	program := filepath.Join(o.out, selfupdate.FileName(o.version, here.name()))
	if _, err := os.Stat(program); err != nil {
		program = filepath.Join(work, "ollim-bot")
		if err := o.build(ctx, here, program); err != nil {
			return err
		}
	}
	for _, g := range generated {
		text, err := output(ctx, work, []string{"HOME=" + work, "OLLIM_DATA_DIR=" + work, "OLLIM_TIMEZONE=UTC"}, program, g.args...)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(o.out, g.name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file that every user can read.
func put(path string, data []byte) error {
	return os.WriteFile(path, data, 0o644) //nolint:gosec // a release is public
}

// sums writes the checksums of all files, ordered by name.
func sums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return put(filepath.Join(dir, selfupdate.Sums), []byte(list.String()))
}
