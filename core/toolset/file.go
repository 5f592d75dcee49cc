package toolset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/core/clean"
)

// MaxFile is the size of the largest file that is sent, in bytes.
const MaxFile = 25 << 20

// File finds the file that send_file names: absolute, below the home directory
// (~) or relative to root, the data directory. It returns the real path, with
// symbolic links followed, or says what is wrong: the file is missing, not an
// ordinary one, empty, larger than MaxFile, or may not be sent. That is for may
// to say, which is asked last, about the real path, and answers with a reason.
func File(root, path string, may func(full string) (refusal string)) (found, problem string) {
	full, err := filepath.EvalSymlinks(expand(root, path))
	if err != nil {
		return "", fmt.Sprintf(textNoFile, shownPath(path))
	}
	info, err := os.Stat(full)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "", fmt.Sprintf(textNoFile, shownPath(path))
	case info.Size() == 0: // also the kernel's files, which only seem to be ordinary
		return "", fmt.Sprintf(textEmptyFile, shownPath(path))
	case info.Size() > MaxFile:
		return "", fmt.Sprintf(textLargeFile, shownPath(path), megabytes(info.Size()), MaxFile>>20)
	}
	if refusal := may(full); refusal != "" {
		return "", fmt.Sprintf(textNotToSend, shownPath(path), refusal)
	}
	return full, ""
}

// FileSent is the answer once it has been sent.
func FileSent(found string) string {
	return fmt.Sprintf(textFileSent, clean.Line(filepath.Base(found)))
}

func expand(root, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[1:])
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

func shownPath(path string) string { return clean.Cut(clean.Line(path), 200) }

// megabytes rounds up: a file is never told to be smaller than it is.
func megabytes(size int64) int64 { return (size + 1<<20 - 1) >> 20 }
