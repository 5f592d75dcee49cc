package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// linked is a module that is linked into a program, according to its build info.
type linked struct {
	path, version string
	sum           string // of its source, SHA-256 in hex
	dir           string // of its source
	licence       string // the SPDX identifier
}

// describe writes the bill of materials and the full licences of a program, next to it.
func (o order) describe(ctx context.Context, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	modules, err := o.modules(ctx, info)
	if err != nil {
		return err
	}
	licences, err := licenceTexts(modules)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	bill, err := json.MarshalIndent(o.bill(filepath.Base(program), sha256.Sum256(data), modules), "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(put(program+".cdx.json", append(bill, '\n')), put(program+".licences.txt", []byte(licences)))
}

// modules are the modules linked into a program, including Go's standard library.
func (o order) modules(ctx context.Context, info *debug.BuildInfo) ([]linked, error) {
	root, err := output(ctx, o.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	list := []linked{{path: "std", version: strings.TrimPrefix(info.GoVersion, "go"), dir: strings.TrimSpace(root)}}
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("%s %s has no checksum: run go mod tidy", m.Path, m.Version)
		}
		list = append(list, linked{path: m.Path, version: m.Version, sum: hex.EncodeToString(sum)})
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := output(ctx, o.root, nil, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(l linked) bool { return l.path == m.Path && l.version == m.Version })
		list[i].dir = m.Dir
	}
	for i := range list {
		if list[i].licence, err = licenceOf(list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// legal matches the files that a licence requires to be redistributed.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// legalTexts are those files of a module, by name.
func legalTexts(m linked) (map[string]string, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, e := range entries {
		if !legal.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts[e.Name()] = string(data)
	}
	return texts, nil
}

// marks are phrases that identify a licence, the most specific first.
var marks = []struct{ id, has, and string }{
	{"Apache-2.0", "Apache License", "Version 2.0"},
	{"MPL-2.0", "Mozilla Public License", "2.0"},
	{"MIT", "Permission is hereby granted, free of charge", "substantial portions"},
	{"ISC", "Permission to use, copy, modify, and", "for any purpose with or without fee"},
	{"BSD-3-Clause", "Redistribution and use in source and binary forms", "Neither the name"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms", "this list of conditions"},
}

// licenceOf is a module's licence. If a file contains several, it is the one whose mark
// is first. An unknown licence is an error: someone must read it.
func licenceOf(m linked) (string, error) {
	texts, err := legalTexts(m)
	if err != nil {
		return "", err
	}
	for _, mark := range marks {
		for _, text := range texts {
			text = strings.Join(strings.Fields(text), " ")
			if strings.Contains(text, mark.has) && strings.Contains(text, mark.and) {
				return mark.id, nil
			}
		}
	}
	return "", fmt.Errorf("the licence of %s %s is unknown (%d files in %s): read it, and add it to cmd/release/bill.go", m.path, m.version, len(texts), m.dir)
}

// licenceTexts are the full licences of all modules.
func licenceTexts(modules []linked) (string, error) {
	var b strings.Builder
	b.WriteString("The software that is linked into this program, and its licences.\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 78), m.path, m.version, m.licence)
		texts, err := legalTexts(m)
		if err != nil {
			return "", err
		}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			fmt.Fprintf(&b, "\n--- %s\n\n%s\n", name, strings.TrimSpace(texts[name]))
		}
	}
	return b.String(), nil
}

// object is a JSON object.
type object = map[string]any

// bill is the bill of materials of a program, in CycloneDX 1.6. sum is the program's digest.
func (o order) bill(file string, sum [sha256.Size]byte, modules []linked) object {
	component := func(kind, ref, name, version, licence, sum string) object {
		c := object{"type": kind, "bom-ref": ref, "name": name, "version": version, "licenses": []object{{"license": object{"id": licence}}}}
		if sum != "" {
			c["hashes"] = []object{{"alg": "SHA-256", "content": sum}}
		}
		return c
	}
	var parts []object
	for _, m := range modules {
		ref := "pkg:golang/" + m.path + "@" + m.version
		part := component("library", ref, m.path, m.version, m.licence, m.sum)
		part["purl"] = ref
		parts = append(parts, part)
	}
	digest := hex.EncodeToString(sum[:])
	return object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": parts,
		// A UUID of version 8, made from the digest so that both builds agree.
		"serialNumber": fmt.Sprintf("urn:uuid:%s-%s-8%s-8%s-%s", digest[:8], digest[8:12], digest[13:16], digest[17:20], digest[20:32]),
		"metadata": object{
			"timestamp": o.date.Format("2006-01-02T15:04:05Z"),
			"component": component("application", file, "ollim-bot", o.version, "MIT", digest),
		},
	}
}
