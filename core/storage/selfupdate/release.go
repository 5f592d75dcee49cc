package selfupdate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aead.dev/minisign"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

// The names of a release's files.
const (
	Sums      = "SHA256SUMS"
	Signature = Sums + ".minisig"
)

// FileName returns the name of a release's program.
func FileName(version, platform string) string { return "ollim-bot_" + version + "_" + platform }

const (
	maxText    = 1 << 20   // bytes of the checksums, and of their signature
	maxProgram = 512 << 20 // bytes of a program
)

// release is the content of a signed list of checksums.
type release struct {
	version string            // the newest one for the platform
	sums    map[string]string // SHA-256 in hex, by the file's name
}

func (r release) file(platform string) string { return FileName(r.version, platform) }

// newest verifies the signature of the list of checksums and reads it.
func (p Program) newest(ctx context.Context) (release, error) {
	key, err := ParseKey(p.Key)
	if err != nil {
		return release{}, fmt.Errorf(textBadKey, err)
	}
	sums, err := p.read(ctx, Sums)
	if err != nil {
		return release{}, err
	}
	signature, err := p.read(ctx, Signature)
	if err != nil {
		return release{}, err
	}
	if !minisign.Verify(key, sums, signature) {
		return release{}, fmt.Errorf(textSignature, p.Source, key.ID())
	}
	return choose(string(sums), p.Platform)
}

// ParseKey parses a public key of minisign.
func ParseKey(text string) (key minisign.PublicKey, err error) {
	err = key.UnmarshalText([]byte(text))
	return key, err
}

// sumLine matches a line of sha256sum.
var sumLine = lazyregexp.New(`^([0-9a-f]{64}) [ *]([A-Za-z0-9._-]+)$`)

// programName matches a program's file name.
var programName = lazyregexp.New(`^ollim-bot_([0-9.]+)_([a-z]+_[a-z0-9]+)$`)

// choose reads the list and finds the newest program for the platform.
func choose(text, platform string) (release, error) {
	r := release{sums: map[string]string{}}
	others := map[string]bool{}
	for line := range strings.Lines(text) {
		m := sumLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			return release{}, fmt.Errorf(textBadSums, clean.Cut(clean.Line(line), 60))
		}
		r.sums[m[2]] = m[1]
		switch name := programName().FindStringSubmatch(m[2]); {
		case name == nil || !isVersion(name[1]):
		case name[2] != platform:
			others[name[2]] = true
		case r.version == "" || compare(name[1], r.version) > 0:
			r.version = name[1]
		}
	}
	switch {
	case r.version != "":
		return r, nil
	case len(others) == 0:
		return release{}, errors.New(textNoPrograms)
	}
	return release{}, fmt.Errorf(textNoPlatform, platform, strings.Join(slices.Sorted(maps.Keys(others)), ", "))
}

// isVersion reports whether a text is a version such as 1.20.3.
func isVersion(s string) bool { return version().MatchString(s) }

var version = lazyregexp.New(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$`)

// compare orders two versions by their numbers, as cmp.Compare does.
func compare(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		m, _ := strconv.Atoi(a) // isVersion has validated both
		n, _ := strconv.Atoi(b)
		return cmp.Compare(m, n)
	})
}
