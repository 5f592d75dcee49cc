package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/joho/godotenv"

	"ollimbot/core/fault"
)

// parseEnv reads NAME=value lines. The library's own errors quote the rest of
// the file, tokens and all, so that they are never passed on; the line is found
// by looking for the shortest beginning of the file that fails.
func parseEnv(data []byte, path string) (values map[string]string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	values, err = unmarshalEnv(data)
	if err == nil {
		return values, nil
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, line := range lines {
		if !looksRight(string(line)) {
			return nil, fmt.Errorf(msgEnvLine, path, i+1)
		}
	}
	for i := range lines {
		if _, err := unmarshalEnv(bytes.Join(lines[:i+1], nil)); err != nil {
			return nil, fmt.Errorf(msgEnvLine, path, i+1)
		}
	}
	return nil, fmt.Errorf(msgEnvLine, path, 1)
}

// unmarshalEnv calls the library, which may panic on garbage.
func unmarshalEnv(data []byte) (values map[string]string, err error) {
	defer fault.Rescue("the .env file", func(f *fault.Error) {
		values, err = nil, fmt.Errorf("read variables: %w", f)
	})
	return godotenv.UnmarshalBytes(data)
}

// looksRight reports whether a line is empty, a comment or NAME=value.
func looksRight(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return true
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	name, _, found := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	return found && name != "" && strings.Trim(name, "_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}
