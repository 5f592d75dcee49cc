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

// platform is a system and a processor.
type platform struct {
	os, arch string // in Go's words
	// The processor in nfpm's words and in Debian's; empty: no package.
	nfpm, debian string
}

// platforms are all that we build for.
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

// choose takes those of a list that are named: all, none, or names with commas.
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
			return nil, fmt.Errorf("there is no platform %q: there are all, none, %s", name, names(from))
		}
		chosen = append(chosen, from[i])
	}
	return chosen, nil
}

// build makes a static program. Everything that shapes its bytes is named here:
// nothing of the machine, its paths or its settings goes in.
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

// helpers are the files that the program prints by itself.
var helpers = []struct {
	name string
	args []string
}{
	{"ollim-bot.1", []string{"man"}},
	{"ollim-bot.bash", []string{"completion", "bash"}},
	{"_ollim-bot", []string{"completion", "zsh"}},
	{"ollim-bot.fish", []string{"completion", "fish"}},
}

// texts lets a program for this machine print them.
func (o order) texts(ctx context.Context, work string) error {
	here := platform{os: runtime.GOOS, arch: runtime.GOARCH}
	program := filepath.Join(o.out, selfupdate.FileName(o.version, here.name()))
	if _, err := os.Stat(program); err != nil {
		program = filepath.Join(work, "ollim-bot")
		if err := o.build(ctx, here, program); err != nil {
			return err
		}
	}
	for _, h := range helpers {
		text, err := output(ctx, work, []string{"HOME=" + work, "OLLIM_DATA_DIR=" + work, "OLLIM_TIMEZONE=UTC"}, program, h.args...)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(o.out, h.name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file for everybody.
func put(path string, data []byte) error {
	return os.WriteFile(path, data, 0o644) //nolint:gosec // for everybody
}

// sums writes the sums of all files, in the order of their names.
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
