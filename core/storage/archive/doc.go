// Package archive owns export and import: the file that contains a data directory and the sessions
// of its conversation, which files are in it, how it is checked, and how it replaces a directory.
// It must not know what the files mean, nor its caller.
//
// An export is a tar archive, compressed with gzip and, if it contains secrets, encrypted with a
// passphrase (age). Its first entry is the Head, its last one lists the SHA-256 of each file. The
// files between them are in "data/" and "sessions/".
//
// # An export takes no locks
//
// It copies files until a check of all of them finds none that changed since its copy. At one
// moment between the last copy and the check, all files on disk were equal to their copies. A file
// younger than three seconds is compared by its bytes. So the bot is never blocked, and files
// written without a lock are covered too. The bytes are in a deleted file, so a killed export
// leaves nothing behind.
//
// # An import exchanges directories
//
// The system swaps two directories in one step, so there is never half an import, and nothing needs
// recovery at the next start. If the system cannot do that, the import is refused; there is no
// fallback.
package archive
