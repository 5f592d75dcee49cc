package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/core/storage/selfupdate"
	"ollimbot/docs"
)

// nfpm builds the packages. Newer versions depend on modules for other package formats
// that Go's module proxy does not serve.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"

// recipe is nfpm's configuration. The package has no install or remove scripts: bots
// belong to users, and their data stays.
const recipe = `name: ollim-bot
platform: linux
arch: %s
version: %s
mtime: %s
section: utils
priority: optional
maintainer: the ollim-bot authors <ollim-bot@localhost>
license: MIT
description: |-
  personal assistant that reaches out, run from a terminal dashboard
  It lives with one user, runs routines and reminders as background forks of
  a conversation, and spends a small ping budget so that it stays welcome.
recommends: [ca-certificates, git, bubblewrap]
contents:
`

const recipeFile = `  - src: %s
    dst: %s
    file_info: {mode: %s}
`

// packed is a file of a package.
type packed struct {
	from, to, mode string // an empty mode means 0644
	zip            bool
}

// packed are the files of a platform's package. Its documentation is what `ollim-bot help`
// shows.
func (o order) packed(program string) ([]packed, error) {
	const share = "/usr/share/"
	list := []packed{
		{from: program, to: "/usr/bin/ollim-bot", mode: "0755"},
		{from: filepath.Join(o.out, "ollim-bot.1"), to: share + "man/man1/ollim-bot.1.gz", zip: true},
		{from: filepath.Join(o.out, "ollim-bot.bash"), to: share + "bash-completion/completions/ollim-bot"},
		{from: filepath.Join(o.out, "_ollim-bot"), to: share + "zsh/vendor-completions/_ollim-bot"},
		{from: filepath.Join(o.out, "ollim-bot.fish"), to: share + "fish/vendor_completions.d/ollim-bot.fish"},
		{from: filepath.Join(o.root, "LICENSE"), to: docFolder + "copyright"},
		{from: program + ".licences.txt", to: docFolder + "licences.txt.gz", zip: true},
		{from: filepath.Join(o.root, "CHANGELOG.md"), to: docFolder + "changelog.gz", zip: true},
	}
	names, err := fs.Glob(docs.FS, "*.md")
	for _, name := range names {
		list = append(list, packed{from: filepath.Join(o.root, "docs", name), to: docFolder + name})
	}
	return list, err
}

const docFolder = "/usr/share/doc/ollim-bot/"

// deb builds the Debian package of a platform.
func (o order) deb(ctx context.Context, p platform, work string) error {
	files, err := o.packed(filepath.Join(o.out, selfupdate.FileName(o.version, p.name())))
	if err != nil {
		return err
	}
	var r strings.Builder
	fmt.Fprintf(&r, recipe, p.nfpm, o.version, o.date.Format("2006-01-02T15:04:05Z"))
	for _, f := range files {
		if f.zip {
			zipped := filepath.Join(work, filepath.Base(f.to))
			if err := zip(f.from, zipped); err != nil {
				return err
			}
			f.from = zipped
		}
		fmt.Fprintf(&r, recipeFile, f.from, f.to, cmp.Or(f.mode, "0644"))
	}
	file := filepath.Join(work, "nfpm.yaml")
	if err := os.WriteFile(file, []byte(r.String()), 0o600); err != nil {
		return err
	}
	target := filepath.Join(o.out, fmt.Sprintf("ollim-bot_%s_%s.deb", o.version, p.debian))
	_, err = output(ctx, work, []string{"GOFLAGS=", "GOOS=", "GOARCH="}, "go", "run", nfpm, "package", "-f", file, "-p", "deb", "-t", target)
	return err
}

// zip compresses a file. The result contains neither its name nor its date.
func zip(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o600)
}
